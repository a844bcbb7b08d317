/**
 * `npm run crash`: kills, power cuts and competing processes, and the same on deliberately broken stores.
 *
 * One line per case; with `--json` one JSON line per case. Exits with 1 when a correct store lost or
 * invented data, and also when a broken one did not: a harness that cannot fail proves nothing.
 */
import { parseArgs } from 'node:util'
import { runCuts } from './cuts.ts'
import type { Variant } from './cuts.ts'
import { runKills } from './kills.ts'
import { runPairs } from './pairs.ts'

const help = `npm run crash -- [options]

  --kills N    real kills of a process under load (default 50)
  --cuts N     simulated power cuts (default 20000)
  --pairs N    times that two processes try for one folder (default 100)
  --seed TEXT  repeats a run (default: from the clock)
  --json       one JSON line per case
  --help
`

interface Row {
  readonly case: string
  readonly acked: number
  readonly lost: number
  readonly garbage: number
  readonly recoveryMs: number
  readonly [more: string]: unknown
}

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    cuts: { type: 'string', default: '20000' },
    pairs: { type: 'string', default: '100' },
    seed: { type: 'string', default: Date.now().toString(36) },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(help)
else
  process.exitCode = await main({
    kills: count('kills', values.kills),
    cuts: count('cuts', values.cuts),
    pairs: count('pairs', values.pairs),
    seed: values.seed,
    json: values.json,
  })

async function main({
  kills,
  cuts,
  pairs,
  seed,
  json,
}: {
  kills: number
  cuts: number
  pairs: number
  seed: string
  json: boolean
}): Promise<number> {
  const rows: Row[] = []
  const add = (row: Row): void => {
    rows.push(row)
    progress('')
    process.stdout.write(
      json
        ? `${JSON.stringify(row)}\n`
        : `${row.case.padEnd(36)} acked ${row.acked}, lost ${row.lost}, garbage ${row.garbage}, slowest recovery ${row.recoveryMs} ms\n`,
    )
  }
  if (!json) process.stdout.write(`seed ${seed}\n`)
  if (kills > 0) {
    add(await kill(kills, { name: 'kill -9', ackEarly: false, seed }))
    add(await kill(Math.min(kills, 20), { name: 'wrong kill -9, ack before write', ackEarly: true, seed }))
  }
  if (cuts > 0) {
    add(await cut(cuts, { name: 'power cut', variant: 'right', seed }))
    add(
      await cut(Math.min(cuts, 5_000), { name: 'wrong power cut, ack before sync', variant: 'ack before sync', seed }),
    )
    add(await cut(Math.min(cuts, 5_000), { name: 'wrong power cut, no checksum', variant: 'no checksum', seed }))
  }
  if (pairs > 0) {
    const result = await runPairs(pairs, {
      onProgress: (done) => {
        progress(`two processes: ${done} of ${pairs}`)
      },
    })
    add({ case: 'two processes', ...result, recoveryMs: Math.round(result.recoveryMs) })
  }
  return verdict(rows)
}

function verdict(rows: readonly Row[]): number {
  let code = 0
  for (const row of rows) {
    const wrong = row.lost + row.garbage + Number(row['refused'] ?? 0)
    const meant = row.case.startsWith('wrong')
    if (wrong > 0 === meant) continue
    process.stderr.write(
      meant
        ? `${row.case}: nothing was noticed, so this harness proves nothing\n`
        : `${row.case}: NOT SAFE, repeat with --seed ${String(row['seed'])}\n`,
    )
    code = 1
  }
  return code
}

async function kill(
  kills: number,
  { name, ackEarly, seed }: { name: string; ackEarly: boolean; seed: string },
): Promise<Row> {
  const result = await runKills(kills, {
    ackEarly,
    seed,
    onProgress: (done) => {
      progress(`${name}: ${done} of ${kills}`)
    },
  })
  return { case: name, ...result, recoveryMs: Math.round(result.recoveryMs), seed }
}

async function cut(
  cuts: number,
  { name, variant, seed }: { name: string; variant: Variant; seed: string },
): Promise<Row> {
  const result = await runCuts(cuts, {
    variant,
    seed,
    onProgress: (done) => {
      progress(`${name}: ${done} of ${cuts}`)
    },
  })
  return { case: name, ...result, recoveryMs: Math.round(result.recoveryMs), seed }
}

function count(name: string, text: string): number {
  const number = Number(text)
  if (!(Number.isInteger(number) && number >= 0))
    throw new RangeError(`--${name} must be an integer of at least 0, got ${text}`)
  return number
}

/** A progress line that is overwritten; prints nothing without a terminal. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${text.padEnd(70)}${text === '' ? '\r' : ''}`)
}
