/**
 * Probes of containers: programs run in the container, log lines come from its log, HTTP and TCP go to its published ports.
 *
 * The prober knows no containers. What it passes on as the working directory of a program is here the id of a container, and what
 * it reads as a log file is the log of one.
 */
import { onAbort, type Clock } from 'evenkeel/unstable/base'
import type { Files } from '../files.ts'
import type { ProbeCheck, ProbeChecks, ProbeOutcome } from '../prober.ts'
import type { ContainerRuntime } from './container-runtime.ts'

interface ContainerProbesOptions {
  readonly checks: ProbeChecks
  readonly clock: Clock
  /** The runtime, while it answers. */
  readonly runtime: () => ContainerRuntime | undefined
}

const outputMax = 10 * 1024

export class ContainerProbes implements ProbeChecks {
  readonly #options: ContainerProbesOptions

  constructor(options: ContainerProbesOptions) {
    this.#options = options
  }

  async findHealth(check: ProbeCheck, options: { readonly signal?: AbortSignal } = {}): Promise<ProbeOutcome> {
    if (check.type !== 'exec') return this.#options.checks.findHealth(check, options)
    const runtime = this.#options.runtime()
    if (!runtime) return { isOk: false, output: 'the container runtime does not answer' }
    const stopping = new AbortController()
    const stopListening = onAbort(options.signal, () => {
      stopping.abort(new Error('the run is over'))
    })
    const cancel = this.#options.clock.after(check.timeoutMs, () => {
      stopping.abort(new Error(`no result within ${check.timeoutMs} ms`))
    })
    try {
      return await runProgram(runtime, check, stopping.signal)
    } finally {
      cancel()
      stopListening()
    }
  }
}

/** Ends at the signal, whatever the runtime does. */
async function runProgram(
  runtime: ContainerRuntime,
  { cwd: container, command }: Extract<ProbeCheck, { readonly type: 'exec' }>,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const aborted = new Promise<ProbeOutcome>((resolve) => {
    onAbort(signal, () => {
      resolve({ isOk: false, output: signal.reason instanceof Error ? signal.reason.message : 'the run is over' })
    })
  })
  const run = async (): Promise<ProbeOutcome> => {
    const { output, findExitCode } = await runtime.streams.exec(container, { command, signal })
    const decoder = new TextDecoder()
    let text = ''
    for await (const { bytes } of output) text = (text + decoder.decode(bytes, { stream: true })).slice(-outputMax)
    const exitCode = await findExitCode()
    return { isOk: exitCode === 0, output: `${text}${exitCode === 0 ? '' : ` (exit code ${exitCode})`}`.trim() }
  }
  return Promise.race([
    aborted,
    run().catch((error: unknown) => ({ isOk: false, output: error instanceof Error ? error.message : String(error) })),
  ])
}

/** A log that is followed: what came since it was read last. */
interface Followed {
  readonly stopping: AbortController
  /** Where `bytes` begin in the log. */
  offset: number
  bytes: Uint8Array
}

/** How much of a log waits for its reader. */
const waitingMax = 1_048_576

/**
 * Logs of containers as files that grow, for probes that wait for a line. A reader goes forward only; what it has read is not kept.
 * Of a log that grows by more than a mebibyte between two looks the oldest is skipped.
 */
export class ContainerLogs implements Pick<Files, 'findBytes'> {
  readonly #runtime: () => ContainerRuntime | undefined
  readonly #followed = new Map<string, Followed>()

  constructor(runtime: () => ContainerRuntime | undefined) {
    this.#runtime = runtime
  }

  findBytes(
    container: string,
    { offset, length }: { readonly offset: number; readonly length: number },
  ): Promise<Uint8Array | undefined> {
    const followed = this.#followed.get(container) ?? this.#follow(container)
    if (!followed) return Promise.resolve(undefined)
    const read = Math.min(Math.max(0, offset - followed.offset), followed.bytes.length)
    followed.bytes = followed.bytes.subarray(read)
    followed.offset += read
    return Promise.resolve(followed.bytes.slice(0, length))
  }

  forget(container: string): void {
    this.#followed.get(container)?.stopping.abort(new Error('the log is not read any more'))
    this.#followed.delete(container)
  }

  close(): void {
    for (const container of [...this.#followed.keys()]) this.forget(container)
  }

  #follow(container: string): Followed | undefined {
    const runtime = this.#runtime()
    if (!runtime) return undefined
    const followed: Followed = { stopping: new AbortController(), offset: 0, bytes: new Uint8Array() }
    this.#followed.set(container, followed)
    const { signal } = followed.stopping
    const read = async (): Promise<void> => {
      for await (const { bytes } of runtime.streams.logs(container, { follow: true, signal })) {
        const all = Buffer.concat([followed.bytes, bytes])
        const skipped = Math.max(0, all.length - waitingMax)
        followed.bytes = all.subarray(skipped)
      }
    }
    // The next look follows the log again, from its beginning.
    read().catch(() => {
      if (this.#followed.get(container) === followed) this.#followed.delete(container)
    })
    return followed
  }
}
