/**
 * `PUT /admin/perftrace?duration=10s[&type=snapshot|snapshot-cpu]`: records what this program does for some time.
 *
 *   request ──▶ 204 ──▶ … the duration … ──▶ FOLDER/dcp-snapshot-TIME-PID.cpuprofile
 *
 * The file is a CPU profile of V8, which browsers and editors open; that of dcp is for the tools of Go.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'
import type { HandlerResponse, Route } from 'evenkeel/server'
import { sleep, type Clock, type Logger } from 'evenkeel/unstable/base'
import { parseDuration } from './controllers/durations.ts'

interface ProfileOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Absent: profiles cannot be recorded. */
  readonly folder: string | undefined
  /** Ends a recording. */
  readonly signal: AbortSignal
}

const [shortestMs, longestMs] = [1000, 300_000]
const types: ReadonlySet<string> = new Set(['', 'snapshot', 'snapshot-cpu'])

export function profileRoute({ clock, log, folder, signal }: ProfileOptions): Route {
  let isRecording = false
  return {
    path: '/admin/perftrace',
    handlers: {
      PUT({ query }): HandlerResponse {
        const durationMs = parseDuration(query.get('duration') ?? '')
        const type = query.get('type') ?? ''
        if (durationMs === undefined) return refusal(400, 'the parameter duration is required: a duration such as 10s')
        if (durationMs < shortestMs || durationMs > longestMs) return refusal(400, 'the duration must be from 1s to 5m')
        if (!types.has(type)) return refusal(400, 'the type must be snapshot or snapshot-cpu')
        if (folder === undefined) return refusal(501, 'this server records no profiles')
        if (isRecording) return refusal(409, 'a profile is being recorded: try again when it has ended')
        isRecording = true
        record(folder, { durationMs, type: type || 'snapshot', clock, signal })
          .then(
            (path) => {
              log.info('recorded profile', { path })
            },
            (error: unknown) => {
              log.error('cannot record profile', { error })
            },
          )
          .finally(() => {
            isRecording = false
          })
        return { status: 204 }
      },
    },
  }
}

interface Recording {
  readonly durationMs: number
  readonly type: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** Returns the path of the profile. */
async function record(folder: string, { durationMs, type, clock, signal }: Recording): Promise<string> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    // The end of the program ends the recording; what was recorded is written.
    await sleep(clock, durationMs, { signal }).catch(() => undefined)
    const { profile } = await session.post('Profiler.stop')
    const path = join(folder, `dcp-${type}-${Math.floor(clock.now() / 1000)}-${process.pid}.cpuprofile`)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(path, JSON.stringify(profile), { mode: 0o600 })
    return path
  } finally {
    session.disconnect()
  }
}

function refusal(status: number, text: string): HandlerResponse {
  return { status, body: `${text}\n` }
}
