// Counts the modules that a program reads from disk: node --import count-modules.mjs client.mjs
import { registerHooks } from 'node:module';

let modules = 0;
registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:')) modules++;
    return next(url, context);
  },
});
process.on('exit', () => console.log(modules));
