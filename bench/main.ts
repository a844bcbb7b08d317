/**
 * `npm run bench -- NAME [--json]`: our figures, and those of the peers in the same run.
 *
 * Prints a table, or with `--json` one line per figure: `{"bench","case","ours","peer","peerName","ratio","unit"}` and
 * other measurements. Compare the ratios; the machine is shared and noisy. A missing peer is
 * reported as missing.
 */
import { parseArgs } from 'node:util'
import { applyBench } from './apply/main.ts'
import { explorerBench } from './explorer/main.ts'
import { importBench } from './import/main.ts'
import { planeBench } from './plane/main.ts'
import { printer } from './print.ts'
import type { Bench } from './print.ts'
import { runtimeBench } from './runtime/main.ts'
import { serverBench } from './server/main.ts'
import { storeBench } from './store/main.ts'
import { verbsBench } from './verbs/main.ts'
import { workloadsBench } from './workloads/main.ts'

const benches: Readonly<Record<string, Bench>> = {
  apply: applyBench,
  explorer: explorerBench,
  import: importBench,
  plane: planeBench,
  runtime: runtimeBench,
  server: serverBench,
  store: storeBench,
  verbs: verbsBench,
  workloads: workloadsBench,
}

const help = `npm run bench -- NAME [options]

  ${Object.entries(benches)
    .map(([name, { about }]) => `${name.padEnd(10)} ${about}`)
    .join('\n  ')}

  --json       one JSON line per figure
  --only TEXT  cases whose name contains the text
  --rounds N   rounds per case, interleaved with the peers (default 3)
  --quick      server, apply, verbs: everything once and small; the figures mean nothing
  --pin        server: servers on one core, the load generator on another (needs taskset)
  --peer-100k  server: load the peer with 100,000 objects as well, which takes minutes
  --help
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    pin: { type: 'boolean', default: false },
    'peer-100k': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const [name = ''] = positionals
const bench = benches[name]
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3))
if (values.help) process.stdout.write(help)
else if (!bench) {
  process.stderr.write(`${name === '' ? 'which benchmark?' : `there is no benchmark ${name}`}\n\n${help}`)
  process.exitCode = 2
} else if (!(Number.isInteger(rounds) && rounds >= 1)) {
  process.stderr.write(`--rounds takes a whole number of 1 or more, got ${values.rounds}\n`)
  process.exitCode = 2
} else {
  await bench.run({
    rounds,
    only: values.only,
    quick: values.quick,
    pin: values.pin,
    peer100k: values['peer-100k'],
    print: printer(name, { json: values.json }),
  })
}
