import {
  Controller,
  Get,
  Inject,
  Injectable,
  Post,
  Req,
  Res,
  type Type,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { texts } from '../log/texts';
import { Assets } from './assets';
import { ConsoleRequests } from './console-requests';
import { EventStreams, MOST_STREAMS } from './event-streams';
import {
  type HttpRequest,
  type HttpResponse,
  nodeOf,
  prepare,
  sendAsset,
  sendJson,
  urlOf,
} from './http';
import type { ResolvedConsoleOptions } from './options';
import { CONSOLE_OPTIONS } from './tokens';

/** The routes of the page, below its path. */
@Injectable()
abstract class ConsoleRoutes {
  constructor(
    @Inject(CONSOLE_OPTIONS) private readonly options: ResolvedConsoleOptions,
    private readonly assets: Assets,
    private readonly requests: ConsoleRequests,
    private readonly streams: EventStreams,
  ) {}

  // A relative path leads to the files whatever a proxy puts in front of the path.
  @Get()
  page(@Req() request: HttpRequest, @Res() response: HttpResponse): void {
    const folder = this.options.path.split('/').at(-1) ?? '';
    const base = urlOf(request).pathname.endsWith('/') ? '.' : `./${folder}`;
    sendAsset(request, response, this.assets.page(base));
  }

  @Get('assets/:name')
  asset(@Req() request: HttpRequest, @Res() response: HttpResponse): void {
    const name = Reflect.get(Object(request.params), 'name');
    const asset = this.assets.get(name);
    if (asset === undefined) prepare(response, 404).send('');
    else sendAsset(request, response, asset);
  }

  @Get('api/state')
  state(@Res() response: HttpResponse): Promise<void> {
    return this.requests.answer(response, () => this.requests.state());
  }

  @Get('api/events')
  async events(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    if (this.streams.isClosed) return sendJson(response, 503, { error: texts.consoleClosing });
    if (this.streams.count >= MOST_STREAMS) {
      return sendJson(response, 503, { error: texts.consoleTooManyTabs(MOST_STREAMS) });
    }
    const node = nodeOf(request, response);
    await this.streams.open(node.request, node.response);
  }

  @Get('api/dead-letters')
  list(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.answer(response, () => this.requests.list(request));
  }

  @Get('api/dead-letters/message')
  message(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.answer(response, () => this.requests.message(request));
  }

  @Post('api/dead-letters/replay')
  replay(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('replay', request, response, (body) => this.requests.replay(body));
  }

  @Post('api/dead-letters/replay/cancel')
  cancelReplay(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('replay', request, response, (body) => this.requests.cancel(body));
  }

  @Post('api/dead-letters/discard')
  discard(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('discard', request, response, (body) => this.requests.discard(body));
  }

  @Post('api/dead-letters/discard/cancel')
  cancelDiscard(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('discard', request, response, (body) => this.requests.cancel(body));
  }

  @Post('api/subscriptions/pause')
  pause(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('pause', request, response, (body) => this.requests.pause(body));
  }

  @Post('api/subscriptions/resume')
  resume(@Req() request: HttpRequest, @Res() response: HttpResponse): Promise<void> {
    return this.requests.act('pause', request, response, (body) => this.requests.resume(body));
  }
}

/** The controller of the page at its path, behind its guards. */
export function consoleControllerOf({ path, guards }: ResolvedConsoleOptions): Type {
  @Controller({ path, version: VERSION_NEUTRAL })
  @UseGuards(...guards)
  class SettleConsoleController extends ConsoleRoutes {}
  return SettleConsoleController;
}
