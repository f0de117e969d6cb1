import type { Type } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import { texts } from '../log/texts';
import type {
  DeliveryInterceptor,
  DeliveryInterceptorOption,
  InjectableDeliveryInterceptor,
} from '../model/interceptor';

/** The interceptors of the module as functions, and their faults, a line each. */
export function resolveInterceptors(
  modules: ModuleRef,
  options: readonly DeliveryInterceptorOption[],
): { readonly interceptors: readonly DeliveryInterceptor[]; readonly faults: readonly string[] } {
  const interceptors: DeliveryInterceptor[] = [];
  const faults: string[] = [];
  for (const option of options) {
    if (!isInjectable(option)) {
      interceptors.push(option);
      continue;
    }
    const instance = lookUp(modules, option);
    if (instance === undefined) faults.push(texts.interceptorNotProvided(option.name));
    else interceptors.push(named(option.name, instance));
  }
  return { interceptors, faults };
}

function isInjectable(
  option: DeliveryInterceptorOption,
): option is Type<InjectableDeliveryInterceptor> {
  const { prototype } = option as Partial<Type<InjectableDeliveryInterceptor>>;
  return typeof prototype?.intercept === 'function';
}

function lookUp(
  modules: ModuleRef,
  type: Type<InjectableDeliveryInterceptor>,
): InjectableDeliveryInterceptor | undefined {
  try {
    return modules.get(type, { strict: false });
  } catch {
    return undefined; // Not a provider, or not a singleton: the fault names both.
  }
}

// Log lines name an interceptor by the name of its function.
function named(name: string, instance: InjectableDeliveryInterceptor): DeliveryInterceptor {
  const interceptor: DeliveryInterceptor = (delivery, next) => instance.intercept(delivery, next);
  return Object.defineProperty(interceptor, 'name', { value: name });
}
