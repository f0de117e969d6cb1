// @ts-check
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** @typedef {NonNullable<import('@nestjs/common').ModuleMetadata['imports']>} Imports */

/** Nothing but errors and warnings is logged, as in production. */
export const LOGGER = /** @type {import('@nestjs/common').LogLevel[]} */ (['error', 'warn']);

/**
 * Applies decorators to the method `handle` of a class.
 *
 * @param {Function} type
 * @param {ReadonlyArray<(target: object, key: string, descriptor: PropertyDescriptor) => unknown>} decorators
 */
export function decorate({ prototype }, decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'handle') ?? {};
  for (const decorator of decorators) decorator(prototype, 'handle', descriptor);
}

/**
 * A module with these parts.
 *
 * @param {import('@nestjs/common').ModuleMetadata} parts
 * @returns {new () => object}
 */
export function moduleOf(parts) {
  class AppModule {}
  Module(parts)(AppModule);
  return AppModule;
}

/**
 * Starts an application without a web server.
 *
 * @param {import('@nestjs/common').ModuleMetadata} parts
 * @returns {Promise<import('@nestjs/common').INestApplicationContext>}
 */
export function startContext(parts) {
  return NestFactory.createApplicationContext(moduleOf(parts), { logger: LOGGER });
}
