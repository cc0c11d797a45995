// The whole measurement, one command:   npm run bench            (writes RESULTS.md and results.json)
//   --clients=a,b   some clients (raw-fetch is always there)    --quick | --rounds=N   fewer or more
//   --report        RESULTS.md again from results.json and NOTES.md
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CLIENTS } from './lib/clients.mjs';
import { ROOT } from './lib/procs.mjs';
import { sdkTables } from './lib/report.mjs';
import { measureSdks } from './lib/sdk.mjs';

const arg = (name) => process.argv.find((a) => a.startsWith(`--${name}=`))?.split('=')[1];
const quick = process.argv.includes('--quick');
const chosen = arg('clients')?.split(',');
const clients = CLIENTS.filter((c) => !chosen || c.name === 'raw-fetch' || chosen.includes(c.name));

// CPU the whole machine spent, in seconds: tells how much of the run belonged to somebody else.
function machineBusy() {
  try {
    const [user, nice, system, , , irq, soft, steal] = readFileSync('/proc/stat', 'utf8').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
    return { used: (user + nice + system + irq + soft) / 100, steal: steal / 100 };
  } catch { return { used: 0, steal: 0 }; }
}

const file = (kind, ext) => path.join(ROOT, `${kind}.${ext}`);

function render({ meta, sdk }) {
  const stub = sdk?.stats.server;
  const lines = [
    '# How fast existing TypeScript agent SDKs are',
    '',
    `Measured ${meta.when} on Node ${meta.node}, ${meta.cpu}, in ${meta.seconds.toFixed(0)} s. Load average ${meta.load[0].toFixed(1)} before, ${meta.load[1].toFixed(1)} after; `
    + `the machine used ${meta.used.toFixed(0)} CPU-seconds meanwhile, ${meta.steal.toFixed(0)} s were stolen.`
    + (stub ? ` The stub spent ${((stub.cpu.user + stub.cpu.system) / stub.requests).toFixed(0)} µs of its own CPU per request, in its own process.` : ''),
    '',
    'Run it: `npm run bench`. How it measures: README.md.',
    '',
  ];
  if (sdk) lines.push('## SDKs', '', sdkTables(sdk));
  const notes = file('NOTES', 'md');
  if (existsSync(notes)) lines.push(readFileSync(notes, 'utf8'));
  return lines.join('\n');
}

if (process.argv.includes('--report')) {
  writeFileSync(file('RESULTS', 'md'), render(JSON.parse(readFileSync(file('results', 'json'), 'utf8'))));
  process.exit(0);
}

const began = performance.now();
const load0 = os.loadavg()[0], busy0 = machineBusy();
const sdk = await measureSdks(clients, quick
  ? { rounds: 3, longRounds: 1, startRounds: 2, batchMs: 80, concurrency: 200 }
  : { rounds: Number(arg('rounds') ?? 6), longRounds: 2, startRounds: 4, batchMs: 250, concurrency: 200 });
const busy1 = machineBusy();
const meta = {
  when: `${new Date().toISOString().slice(0, 16)}Z`, node: process.version, cpu: `${os.cpus().length} x ${os.cpus()[0].model.trim()}`,
  seconds: (performance.now() - began) / 1000, load: [load0, os.loadavg()[0]], used: busy1.used - busy0.used, steal: busy1.steal - busy0.steal,
};
const partial = chosen || quick ? '.partial' : '';
writeFileSync(file(`RESULTS${partial}`, 'md'), render({ meta, sdk }));
writeFileSync(file(`results${partial}`, 'json'), JSON.stringify({ meta, sdk }));
console.error(`wrote RESULTS${partial}.md in ${meta.seconds.toFixed(0)} s`);
process.exit(0);
