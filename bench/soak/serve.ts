/**
 * The plane of a soak, in a separate process: `node tools/run.mjs bench/soak/serve.ts FOLDER`.
 *
 * It also records the true history: every change of a ConfigMap with its store revision, read from the store itself and
 * not through the server, one line each in `FOLDER/history`. It reports readiness, its memory every
 * second, its live memory on request, and log lines above `info`.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { startPlane } from 'evenkeel/server'
import { createLogger, SystemClock } from 'evenkeel/unstable/base'
import { openFileStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import type { FromServer, ToServer } from './server-process.ts'
import { soakers, soakToken } from './plan.ts'

const historyMs = 60_000
const clock = new SystemClock()
const folder = process.argv[2] ?? ''

function tell(message: FromServer): void {
  process.send?.(message)
}

for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: unknown) => {
    tell({
      kind: 'fault',
      text: `${event}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    })
  })

const log = createLogger({
  clock,
  level: 'warn',
  sink: ({ level, message, fields }) => {
    tell({
      kind: level === 'error' ? 'fault' : 'said',
      text: `${message} ${JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : value))}`,
    })
  },
})
const store = await openFileStore(join(folder, 'store'))
const stopHistory = await keepHistory(store)
const plane = await startPlane({
  store,
  log,
  listen: {},
  compactionMs: historyMs,
  authentication: {
    tokens: Object.fromEntries(soakers.map((user) => [soakToken(user), { name: user, groups: ['soak'] }])),
  },
})
const { url = '', token = '', caPem = '' } = plane.address ?? {}
tell({ kind: 'ready', url, token, caPem })
const lateness = monitorEventLoopDelay({ resolution: 5 })
lateness.enable()
const beat = setInterval(() => {
  tellMemory()
}, 1000)

process.on('message', (message: ToServer) => {
  if (message === 'live') tellLive()
  else void stop()
})
// Exits with the parent.
const abandoned = (): void => {
  process.exit(1)
}
process.on('disconnect', abandoned)

function tellMemory(): void {
  const { rss, heapUsed } = process.memoryUsage()
  tell({ kind: 'memory', rss, heapUsed, lateMs: lateness.percentile(99) / 1e6 })
  lateness.reset()
}

/** Memory after a full garbage collection. */
function tellLive(): void {
  collectGarbage()
  const { rss, heapUsed } = process.memoryUsage()
  tell({ kind: 'live', rss, heapUsed, lateMs: 0 })
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}

async function stop(): Promise<void> {
  process.off('disconnect', abandoned)
  clearInterval(beat)
  await plane.stop()
  await stopHistory()
  await store.close()
  process.disconnect()
}

async function keepHistory(from: Store): Promise<() => Promise<void>> {
  const file = createWriteStream(join(folder, 'history'))
  const ending = new AbortController()
  const watch = from.watch('/', { after: await from.head(), signal: ending.signal })
  const ended = (async () => {
    for await (const { changes } of watch) {
      for (const { key, revision, entry } of changes)
        if (key.includes('/core/configmaps/'))
          file.write(`${revision} ${key.split('/').slice(-2).join('/')}${entry ? '' : ' deleted'}\n`)
    }
  })().catch((error: unknown) => {
    if (!ending.signal.aborted) tell({ kind: 'fault', text: `the history ended: ${String(error)}` })
  })
  return async () => {
    ending.abort()
    await ended
    await new Promise<void>((resolve) => {
      file.end(resolve)
    })
  }
}
