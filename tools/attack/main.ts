/**
 * `npm run attack`: searches for inputs that cost our own server more than they cost their sender.
 *
 * Runs the catalogue of shapes against a server in a child process on loopback, each with n/2 and with n, and judges
 * processor time, memory, stall and growth by the declared bounds. With `--minutes` it then mutates the most expensive
 * shapes until the time is over. Exits with 1 when a bound is exceeded.
 */
import { parseArgs } from 'node:util'
import { entries, type Shape } from './shape.ts'
import { round } from './bounds.ts'
import { buildServer } from './built-server.ts'
import { Meter, type Row } from './meter.ts'
import { search, shapeOfRecipe, worstOfEach } from './search.ts'
import { describeSiege, siege } from './siege.ts'
import { shapes } from './shapes.ts'

const help = `npm run attack -- [options]

  --minutes N  searches for N minutes after the catalogue (default 0): changes documents, not connections
  --only TEXT  only shapes whose entry point or name contains one of these texts, separated by commas;
               or the name of a changed shape that a search has printed
  --siege      hostile clients at once for the minutes (default 10), with polite clients beside them
  --clients N  the hostile clients of a siege (default 24)
  --seed TEXT  repeats a search or a siege (default 1)
  --json       one JSON line per shape, one per entry point for what came nearest to its bounds, and one for all
  --help

Entry points: ${entries.join(' ')}
All traffic stays on loopback. Processor time and memory are those of the server, in a process with a heap of 512 MB.
`

const columns = [
  ['entry', 9],
  ['shape', 44],
  ['bytes', -8],
  ['status', -9],
  ['cpu ms', -7],
  ['ms/kB', -7],
  ['growth', -7],
  ['peak MB', -8],
  ['stall ms', -9],
  ['polite ms', -10],
  ['', 5],
] as const

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    siege: { type: 'boolean', default: false },
    clients: { type: 'string', default: '24' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
process.exitCode = await main()

async function main(): Promise<number> {
  const minutes = Number(values.minutes ?? (values.siege ? 10 : 0))
  const chosen = chooseShapes(values.only)
  const clients = Number(values.clients)
  const isRight = minutes >= 0 && Number.isInteger(clients) && clients > 0 && chosen.length > 0
  if (values.help || !isRight) {
    process.stderr.write(
      values.help ? help : `Error: give minutes of 0 or more, one client or more, and the name of a shape\n\n${help}`,
    )
    return values.help ? 0 : 2
  }
  if (values.siege) return besiege(minutes, clients)
  const meter = await Meter.start({ program: await buildServer() })
  try {
    const rows = await runAll(meter, { chosen, minutes })
    return summarize(rows)
  } finally {
    progress('')
    await meter.stop()
  }
}

async function besiege(minutes: number, clients: number): Promise<number> {
  const report = await siege({ minutes, clients, seed: values.seed, onProgress: progress })
  progress('')
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  else process.stdout.write(describeSiege(report))
  return report.failures.length > 0 ? 1 : 0
}

function chooseShapes(only: string): readonly Shape[] {
  const recipe = shapeOfRecipe(only)
  if (recipe) return [recipe]
  return shapes.filter(({ entry, name }) => only.split(',').some((text) => `${entry} ${name}`.includes(text)))
}

async function runAll(
  meter: Meter,
  { chosen, minutes }: { chosen: readonly Shape[]; minutes: number },
): Promise<Row[]> {
  const rows: Row[] = []
  if (!values.json) print(columns.map(([title]) => title))
  for (const [index, shape] of chosen.entries()) {
    progress(`${index + 1} of ${chosen.length}: ${shape.name}`)
    rows.push(show(await meter.row(shape, values)))
  }
  if (minutes === 0) return rows
  let tried = 0
  const endMs = performance.now() + minutes * 60_000
  const found = await search(meter, rows, {
    seed: values.seed,
    isOver: () => performance.now() >= endMs,
    onTried: ({ shape }) => {
      progress(`search: ${++tried} tried, ${shape}`)
    },
  })
  return [...rows, ...found.map(show)]
}

function show(row: Row): Row {
  progress('')
  if (values.json) process.stdout.write(`${JSON.stringify(row)}\n`)
  else {
    const { cpuMs, msPerKb, growth, peakMb, stallMs, politeMs } = row
    const numbers = [cpuMs, msPerKb, growth, peakMb, stallMs, politeMs].map((value) =>
      value === undefined ? '-' : String(round(value)),
    )
    const verdict = row.failures.length === 0 ? 'ok' : 'FAIL'
    print([row.entry, row.shape, String(row.bytes), row.status, ...numbers, verdict])
  }
  return row
}

function print(cells: readonly string[]): void {
  const padded = columns.map(([, width], index) => {
    const cell = cells[index] ?? ''
    return width < 0 ? cell.padStart(-width) : cell.padEnd(width)
  })
  process.stdout.write(`${padded.join(' ').trimEnd()}\n`)
}

/** Every failure in a sentence, and how to repeat it. */
function summarize(rows: readonly Row[]): number {
  const failed = rows.filter(({ failures }) => failures.length > 0)
  const worst = [...worstOfEach(rows).values()]
  if (values.json) {
    for (const { entry, shape, severity } of worst)
      process.stdout.write(`${JSON.stringify({ worst: entry, shape, ofBound: round(severity) })}\n`)
    process.stdout.write(`${JSON.stringify({ shapes: rows.length, failed: failed.length, seed: values.seed })}\n`)
    return failed.length > 0 ? 1 : 0
  }
  process.stdout.write('\nNearest to their bounds:\n')
  for (const { entry, shape, severity } of worst)
    process.stdout.write(`  ${entry.padEnd(9)} ${`${Math.round(severity * 100)} %`.padStart(6)}  ${shape}\n`)
  process.stdout.write(`\n${rows.length} shapes, ${failed.length} above their bounds\n`)
  for (const { shape, failures } of failed)
    process.stdout.write(`${shape}: ${failures.join('; ')}\n  npm run attack -- --only '${shape}'\n`)
  return failed.length > 0 ? 1 : 0
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}
