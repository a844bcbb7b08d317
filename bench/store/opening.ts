/**
 * The cost of a million objects: memory per object, and the time to open the store, compared with reading its file.
 *
 * Each measurement has its own process, so that they do not affect each other.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { median } from '../print.ts'
import type { BenchOptions } from '../print.ts'

const script = fileURLToPath(new URL('./opening-step.ts', import.meta.url))
const objects = 1_000_000

/** The result of a step. */
export interface StepResult {
  readonly ms?: number
  readonly rssBytes?: number
  readonly fileBytes?: number
  readonly bytesPerObject?: number
  readonly ratio?: number
}

export async function openingBench(folder: string, { rounds, only, print }: BenchOptions): Promise<void> {
  const [memoryName, openName] = ['memory 1KiB object', 'open 1M objects']
  const data = path.join(folder, 'million')
  if (memoryName.includes(only)) {
    const { bytesPerObject = NaN } = await step('memory', data, 200_000)
    print({
      case: memoryName,
      ours: bytesPerObject,
      peer: 1.6 * 1024,
      peerName: 'goal',
      unit: 'bytes',
      lessIsBetter: true,
    })
  }
  if (!openName.includes(only)) return
  const { fileBytes = NaN } = await step('fill', data, objects)
  const opens: StepResult[] = []
  const reads: StepResult[] = []
  for (let turn = 0; turn < rounds; turn++) {
    reads.push(await step('read', data, objects))
    opens.push(await step('open', data, objects))
  }
  const rssMb = Math.round(median(opens.map(({ rssBytes = NaN }) => rssBytes)) / 1e6)
  print({
    case: openName,
    ours: median(opens.map(({ ms = NaN }) => ms)),
    peer: median(reads.map(({ ms = NaN }) => ms)),
    peerName: 'reading the file',
    unit: 'ms',
    lessIsBetter: true,
    more: { rssMb, fileMb: Math.round(fileBytes / 1e6) },
  })
}

async function step(name: string, data: string, count: number): Promise<StepResult> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', ...process.execArgv, script, name, data, String(count)],
    { maxBuffer: 1 << 20 },
  )
  return JSON.parse(stdout) as StepResult
}
