// Packages of bench/package.json, which are not installed where only the library is checked.
declare module '@nestjs/microservices';
declare module 'rabbitmq-client';
declare module 'rascal';
