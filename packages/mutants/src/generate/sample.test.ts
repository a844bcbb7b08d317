/**
 * A small sample of generated mutants, which the Explorer must catch, and their right controllers, which must be silent.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const [runner = '', program = ''] = ['../../../../tools/run.mjs', '../main.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

const sample = [
  'client/finalizer:drop-await:37:7',
  'client/finalizer:drop-finalizer:29:31',
  'external/records:always-true:28:36',
  'external/records:drop-await:28:50',
  'external/records:status-first:29:7',
  'time/generations:ignore-owner:28:14',
  'time/generations:random-name:21:26',
  'time/generations:stale-read:26:25',
]

test('every mutant of the sample is caught at tier 1, and the right controllers raise no alarm', async () => {
  const chosen = sample.flatMap((id) => ['--mutant', id])
  const { stdout } = await run(process.execPath, [runner, program, '--generated', '--json', ...chosen])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { clean?: string; alarms?: number; mutant?: string; caught?: boolean })
  const right = lines.filter(({ clean }) => clean !== undefined)
  expect(right.filter(({ alarms }) => alarms !== 0)).toEqual([])
  expect(right.length).toBe(3)
  const caught = lines.filter((line) => line.caught === true).map(({ mutant }) => mutant)
  expect(caught.sort()).toEqual(sample)
})
