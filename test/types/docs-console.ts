// The snippet of docs/console.md.
import { Module } from '@nestjs/common';
import { SettleConsoleModule } from 'nestjs-settle/console';

@Module({
  imports: [
    AuthModule,
    SettleConsoleModule.forRoot({
      path: 'admin/queues',
      imports: [AuthModule],
      guards: [AdminGuard],
      allow: ['replay', 'discard', 'pause'],
    }),
  ],
})
export class AppModule {}

declare class AdminGuard {
  canActivate(): boolean;
}
declare class AuthModule {}
