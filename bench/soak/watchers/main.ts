/**
 * The watchers of a soak, in a separate process: `node tools/run.mjs bench/soak/watchers/main.ts`.
 *
 * They receive thousands of events per second and keep them all until the end. In the process of the clients this would
 * affect the measurements, more from minute to minute. The process handles one request of its parent at a time: watch,
 * wait for the end, judge.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { judge } from './judge.ts'
import { Tally } from '../tally.ts'
import { startWatchers } from './watcher.ts'
import type { Watcher } from './watcher.ts'
import type { FromWatchers, ToWatchers } from './process.ts'

const settleMsMax = 60_000
const askMs = 50

// This process only counts; it measures no times.
const tally = new Tally(Number.POSITIVE_INFINITY, { warmUpMs: 0 })
let watchers: readonly Watcher[] = []

function tell(message: FromWatchers): void {
  process.send?.(message)
}

process.on('message', (message: ToWatchers) => {
  doIt(message).then(tell, (error: unknown) => {
    tell({ kind: 'failed', text: String(error) })
  })
})
// Exits with the parent, or when the parent closes the channel.
process.on('disconnect', () => {
  process.exit(0)
})

async function doIt(message: ToWatchers): Promise<FromWatchers> {
  if (message.kind === 'watch') {
    watchers = startWatchers(message.server, tally, message.from)
    if (!(await within(settleMsMax, () => watchers.every(({ isListening }) => isListening))))
      throw new Error('not all watches were accepted')
    return { kind: 'watching' }
  }
  if (message.kind === 'end') {
    if (!(await within(settleMsMax, () => watchers.every(({ version }) => version > message.until))))
      tally.error(
        `${watchers.filter(({ version }) => version <= message.until).length} watchers did not receive the last event`,
      )
    await Promise.all(watchers.map((watcher) => watcher.stop()))
    return {
      kind: 'ended',
      watchesEnded: tally.counted('watchesEnded'),
      errors: tally.counted('errors'),
      examples: tally.errors,
    }
  }
  const history = (await readFile(message.historyFile, 'utf8')).split('\n').filter(Boolean)
  return { kind: 'judged', verdict: judge(watchers, history, message.until) }
}

/** Whether it became true in time. */
async function within(msMax: number, isTrue: () => boolean): Promise<boolean> {
  const begun = performance.now()
  while (!isTrue()) {
    if (performance.now() - begun > msMax) return false
    await sleep(askMs)
  }
  return true
}
