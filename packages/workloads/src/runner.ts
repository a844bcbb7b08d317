/**
 * What runs programs and passes connections on, without our kinds: for controllers of other groups.
 *
 *   controller of another group ──▶ Runner ──▶ session    runs, their ends, adoption, the watchdog
 *                                        ├───▶ logs       bounded, with the time of each line
 *                                        └───▶ proxies    ports, connections to endpoints
 *
 * Process and Service use the same parts. The invariants of {@link Session} and {@link Proxies} hold.
 */
import { randomUuid, SystemClock, SystemRandom, type Clock, type Logger, type Random } from 'evenkeel/unstable/base'
import { OsFiles, type Files } from './files.ts'
import { LogKeeper } from './logs/log-keeper.ts'
import { OsLogFiles, type LogFiles } from './logs/log-files.ts'
import { openTimedLog, type TimedLog } from './logs/timed-log.ts'
import { Ports } from './ports.ts'
import type { ProcessHost } from './process-host.ts'
import type { Run } from './runs.ts'
import type { Network } from './services/network.ts'
import { OsNetwork } from './services/os-network.ts'
import { Proxies, type ServiceOwner } from './services/proxies.ts'
import { Session } from './session.ts'
import { ScriptTerminals } from './terminal.ts'
import { thisMachine } from './workloads.ts'

export interface RunnerOptions {
  /** Of the session file and the logs; an absolute path. One program at a time uses it. */
  readonly folder: string
  /** Logs stay when their object is forgotten. @default false */
  readonly keepsLogs?: boolean
  /** The connections of a service have changed. @default nothing */
  readonly onConnections?: (owner: ServiceOwner, note: string) => void
  /** @default the processes of this machine, with a watchdog */
  readonly host?: ProcessHost
  /** @default the files of this machine */
  readonly files?: Files
  /** @default the log files of this machine */
  readonly logFiles?: LogFiles
  /** @default the network of this machine */
  readonly network?: Network
  /** @default the clock of this machine */
  readonly clock?: Clock
  /** Names the session. @default the random source of this machine */
  readonly random?: Random
  /** @default none */
  readonly log?: Logger
}

/**
 * Runs programs for controllers of any kind. One program has one.
 *
 * @example
 * const runner = new Runner({ folder: '/var/lib/app/runs' })
 * await runner.session.open()
 * // … the controllers run …
 * await runner.stop()
 */
export class Runner {
  readonly session: Session
  /** Ports that the machine chooses from. */
  readonly ports: Ports
  /** Listeners and the connections behind them. */
  readonly proxies: Proxies
  readonly #keeper: LogKeeper
  readonly #clock: Clock

  constructor(options: RunnerOptions) {
    const { folder, clock = new SystemClock(), random = new SystemRandom(), network = new OsNetwork(), log } = options
    const { files = new OsFiles(), logFiles = new OsLogFiles(), keepsLogs = false, onConnections } = options
    const machine = options.host ? { host: options.host } : thisMachine({ clock, terminals: new ScriptTerminals() })
    const logged = log && { log }
    this.#clock = clock
    this.#keeper = new LogKeeper({ files, logFiles, clock, ...logged })
    this.session = new Session({
      ...machine,
      ...{ files, clock, folder },
      name: randomUuid(random).slice(0, 8),
      ...(!keepsLogs && { removeLogs: (prefix: string) => this.#keeper.remove(prefix) }),
      ...logged,
    })
    this.ports = new Ports({ host: machine.host })
    this.proxies = new Proxies({ network, clock, onChange: (owner, note) => onConnections?.(owner, note), ...logged })
  }

  /** Keeps the log of a run that is alive in bounds, and the times of its lines. */
  keepLog(run: Run): void {
    this.#keeper.keep(run.mark, run, { maxBytes: undefined, onChange: () => undefined })
  }

  /** A run is over: its log does not grow any more. */
  releaseLog(run: Run): void {
    this.#keeper.forget(run.mark)
  }

  /** A log of a run, with the time before each line; undefined if there is no such file. */
  openLog(path: string): Promise<TimedLog | undefined> {
    return openTimedLog(path, { keeper: this.#keeper, now: () => this.#clock.now() })
  }

  /** Ends every run that does not outlive this program, then every connection. Returns runs that could not be ended. */
  async stop(): Promise<readonly Run[]> {
    const survivors = await this.session.close()
    await this.proxies.stopListening()
    this.proxies.close()
    await this.#keeper.close()
    return survivors
  }
}
