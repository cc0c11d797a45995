// Turns the measurements into RESULTS.md.
import { median, num, pairedRatio, table, x } from './stats.mjs';

const MB = 2 ** 20;
const EVERYDAY = [
  ['text', 'text'], ['loop50', 'loop 50'], ['parallel', 'parallel 8x10'], ['hosted', 'hosted'], ['stream', 'stream 400'],
  ['concurrent', '200 at once'], ['long400', 'loop 400'], ['long400prev', 'loop 400, prev id'],
];

export function sdkTables({ results, empty, stats, steps }, references = ['raw-fetch', 'raw-openai']) {
  const names = Object.keys(results);
  const stepsOf = (key) => steps[key] ?? 1;
  const series = (name, key, field) => results[name].steady[key]?.map((m) => m[field] / m.reps / stepsOf(key));
  const ratio = (name, key, field, ref) => {
    const a = series(name, key, field), b = results[ref] && series(ref, key, field);
    return a && b ? pairedRatio(a, b) : undefined;
  };
  const deliveries = (name) => {
    const row = (label, key, base, target) => {
      const a = series(name, key, 'cpuUs'), b = series(name, base, 'cpuUs');
      return [label, num(median(a)), num(median(b)), x(pairedRatio(a, b).mid), x(target)];
    };
    return table(['evaluate without a listener', 'streamed, CPU µs', 'buffered, CPU µs', 'ratio', 'target'], [
      row('text', 'text', 'textBuffered', 1.1),
      row('the text of 400 deltas', 'streamEvaluated', 'streamBuffered', 2),
    ]);
  };
  const grid = (cell) => table(['client', ...EVERYDAY.map(([, label]) => label)], names.map((n) => [n, ...EVERYDAY.map(([key]) => cell(n, key))]));
  const out = [];
  const add = (title, body, note) => out.push(`### ${title}\n${note ? `\n${note}\n` : ''}\n${body}\n`);

  for (const ref of references.filter((r) => results[r])) {
    add(`CPU per step, ratio to ${ref}`, grid((n, key) => x(ratio(n, key, 'cpuUs', ref)?.mid)), 'user + system time of the client process; median of the rounds\' paired ratios.');
  }
  add('The same to raw-fetch by another estimate: best round over best round (lowest–highest paired ratio)', grid((n, key) => {
    const r = ratio(n, key, 'cpuUs', 'raw-fetch');
    if (!r) return '–';
    const best = Math.min(...series(n, key, 'cpuUs')) / Math.min(...series('raw-fetch', key, 'cpuUs'));
    return `${x(best)} (${r.lo.toFixed(1)}–${r.hi.toFixed(1)})`;
  }), 'Where this and the median disagree much, the machine was busy with something else.');
  add('CPU per step, µs (median; this machine, this hour — compare columns, not days)', grid((n, key) => {
    const s = series(n, key, 'cpuUs');
    return s ? num(median(s)) : '–';
  }));
  add('Wall per step, ratio to raw-fetch', grid((n, key) => x(ratio(n, key, 'wallUs', 'raw-fetch')?.mid)), 'Wall time suffers from whatever else the machine does; trust the CPU tables first.');
  add('Wall per step, µs (median)', grid((n, key) => {
    const s = series(n, key, 'wallUs');
    return s ? num(median(s)) : '–';
  }));

  if (results.weakincentives?.steady.textBuffered) {
    add('weakincentives: a streamed response to a buffered one', deliveries('weakincentives'), 'The other tables have the default, streamed.');
  }

  add('How the cost of a step grows with the history', table(
    ['client', 'resend: CPU µs, steps 10–60', 'steps 349–399', 'growth', 'late, ratio to raw-fetch', 'last request kB', 'prev id: steps 10–60', 'steps 349–399', 'last request kB'],
    names.map((n) => {
      const f = (key, field) => { const s = results[n].steady[key]?.map((m) => m[field]); return s ? median(s) : undefined; };
      const kb = (key) => { const s = stats[`${n}/${key}`]; return s ? num(s.lastBytes / 1e3, 1) : '–'; };
      const late = results[n].steady.long400?.map((m) => m.lateUs), base = results['raw-fetch']?.steady.long400?.map((m) => m.lateUs);
      return [n, num(f('long400', 'earlyUs')), num(f('long400', 'lateUs')), x(f('long400', 'lateUs') / f('long400', 'earlyUs')),
        late && base ? x(pairedRatio(late, base).mid) : '–', kb('long400'), num(f('long400prev', 'earlyUs')), num(f('long400prev', 'lateUs')), kb('long400prev')];
    })));

  const st = (n, f) => median(results[n].start.map(f));
  const rs = (n, f) => results['raw-fetch'] ? x(pairedRatio(results[n].start.map(f), results['raw-fetch'].start.map(f)).mid) : '–';
  const importCpu = (s) => s.imported.cpuMs - s.boot.cpuMs;
  add('Start-up: a new process imports the client, then answers one turn', table(
    ['client', 'import CPU ms', 'import wall ms', 'import CPU, ratio', 'process start to first answer, wall ms', 'CPU ms', 'CPU, ratio', 'RSS after import MB', 'modules read', 'JS read MB'],
    names.map((n) => [n, num(st(n, importCpu)), num(st(n, (s) => s.imported.ms - s.boot.ms)), rs(n, importCpu),
      num(st(n, (s) => s.answered.ms)), num(st(n, (s) => s.answered.cpuMs)), rs(n, (s) => s.answered.cpuMs),
      num(st(n, (s) => s.imported.maxRssMb)), results[n].modules.modules, num(results[n].modules.bytes / MB, 1)])),
  `Files are in the page cache. An empty process takes ${num(median(empty.map((e) => e.boot.cpuMs)))} ms of CPU and ${num(median(empty.map((e) => e.boot.maxRssMb)))} MB. Ratios to raw-fetch (which imports zod only).`);

  add('Installed size', table(['client', 'MB', 'files', 'packages', 'MB, ratio to raw-openai', 'versions'], names.map((n) => {
    const s = results[n].size;
    return [n, num(s.bytes / MB, 1), s.files, s.packages, results['raw-openai'] ? x(s.bytes / results['raw-openai'].size.bytes) : '–', results[n].versions.join(', ')];
  })), 'Bytes of all files in node_modules, zod included for everyone (6 MB).');

  const mem = (n, key) => results[n].memory[key];
  const memKeys = [['loop50', 'loop 50 x2'], ['long400', 'loop 400'], ['concurrent', '200 at once x2']];
  add('Peak RSS, MB, of a fresh process', table(['client', ...memKeys.flatMap(([, l]) => [l, 'ratio'])], names.map((n) => [n,
    ...memKeys.flatMap(([k]) => [num(mem(n, k)), results['raw-fetch'] ? x(mem(n, k) / mem('raw-fetch', k)) : '–'])])), 'Ratios to raw-fetch.');

  add('200 single-turn runs at once', table(['client', 'runs per second', 'throughput, ratio to raw-fetch', 'to raw-openai', 'CPU µs per run'], names.map((n) => {
    const w = series(n, 'concurrent', 'wallUs');
    const inv = (ref) => results[ref] ? x(1 / ratio(n, 'concurrent', 'wallUs', ref).mid) : '–';
    return [n, num(1e6 / median(w)), inv('raw-fetch'), inv('raw-openai'), num(median(series(n, 'concurrent', 'cpuUs')))];
  })));
  return out.join('\n');
}
