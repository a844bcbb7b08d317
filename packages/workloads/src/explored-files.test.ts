/** The Explorer on logs and watched files, with a simulated machine: every single fault, and planted mistakes. */
import { describe, expect, test } from 'vitest'
import type { Client } from 'evenkeel'
import { explore, formatReport, type Scenario, type UserStep } from 'evenkeel/testing'
import type { Clock } from 'evenkeel/unstable/base'
import { replaced, withoutHistory } from './explored.fixture.ts'
import type { Files } from './files.ts'
import type { LogFiles } from './logs/log-files.ts'
import { SimulatedLogFiles } from './logs/simulated-log-files.ts'
import { ScriptedProbes } from './plane.fixture.ts'
import type { Launch, LaunchResult } from './process-host.ts'
import { Process } from './process-kind.ts'
import { Container } from './containers/container-kind.ts'
import { Service } from './services/service-kind.ts'
import { ProcessSet } from './sets/set-kind.ts'
import { Task } from './tasks/task-kind.ts'
import { SimulatedNetwork } from './services/simulated-network.ts'
import { SimulatedFiles, SimulatedHost } from './simulated-host.ts'
import type { FileWatcher } from './watch/file-watcher.ts'
import { SimulatedFileWatcher } from './watch/simulated-file-watcher.ts'
import { workloads } from './workloads.ts'

const web = { name: 'web', namespace: 'default' }
const maxBytes = 65_536
const changed = '/app/src/a.ts'

const create: UserStep = {
  name: 'creates Process web, which watches files and writes much',
  run: (user) =>
    user.create(Process, {
      metadata: web,
      spec: { command: ['serve'], watch: { paths: ['src'] }, log: { maxBytes } },
    } as never),
}
const remove: UserStep = { name: 'deletes it', run: async (user: Client) => user.delete(await user.get(Process, web)) }

/** A machine whose programs write at once. */
class WritingHost extends SimulatedHost {
  readonly #logFiles: SimulatedLogFiles

  constructor({ clock, logFiles }: { readonly clock: Clock; readonly logFiles: SimulatedLogFiles }) {
    super({ clock })
    this.#logFiles = logFiles
  }

  override async launch(launch: Launch): Promise<LaunchResult> {
    const result = await super.launch(launch)
    this.#logFiles.write(launch.logFile, 'a line of its log\n'.repeat(5000))
    return result
  }
}

/** A file changes once, some time after the start. */
class ChangingFiles extends SimulatedFileWatcher {
  changedAtTicks = Infinity

  constructor({ clock }: { readonly clock: Clock }) {
    super({ clock })
    clock.after(35_000, () => {
      this.changedAtTicks = Math.floor(clock.monotonic() / 10)
      this.change(changed)
    })
  }
}

interface External {
  readonly host: WritingHost
  readonly files: SimulatedFiles
  readonly logFiles: SimulatedLogFiles
  readonly watcher: ChangingFiles
  readonly probes: ScriptedProbes
}

/** A mistake that is made on purpose. */
interface Mistake {
  readonly files?: (files: Files) => object
  readonly logFiles?: (logFiles: LogFiles) => object
  readonly watcher?: (watcher: FileWatcher) => object
}

function recordedStart({ files }: External, path: string): number {
  const text = files.contents[`${path}.index`]
  return text === undefined ? 0 : (JSON.parse(text) as { readonly start: number }).start
}

const scenarioOf = (mistake: Mistake = {}): Scenario<External> => ({
  name: 'files of processes',
  steps: [create, remove],
  external: ({ clock }) => {
    const logFiles = new SimulatedLogFiles({ clock })
    return {
      host: new WritingHost({ clock, logFiles }),
      files: new SimulatedFiles(),
      logFiles,
      watcher: new ChangingFiles({ clock }),
      probes: new ScriptedProbes(),
    }
  },
  services: {
    host: { contents: (host: SimulatedHost) => host.processes().map(({ command }) => command) },
    files: { contents: () => ({}) },
    logFiles: { contents: () => ({}) },
    watcher: { contents: () => ({}) },
    probes: { contents: () => ({}) },
  },
  kinds: [Task, ProcessSet, Service, Container],
  controllers: ({ external, clock, random, log }) => {
    const [processes] = workloads({
      folder: '/data',
      cwd: '/app',
      env: { PATH: '/bin' },
      host: external.host,
      files: replaced<Files>(external.files, mistake.files?.(external.files) ?? {}),
      logFiles: replaced<LogFiles>(external.logFiles, mistake.logFiles?.(external.logFiles) ?? {}),
      watcher: replaced<FileWatcher>(external.watcher, mistake.watcher?.(external.watcher) ?? {}),
      checks: external.probes,
      network: new SimulatedNetwork(),
      clock,
      random,
      log,
    }).controllers
    return [withoutHistory(processes)] as never
  },
  exceptions: [
    {
      rule: 'deletion-first',
      about: 'files.',
      because: 'the session file is opened by the first reconcile, whatever that one is about',
    },
  ],
  expects: ({ external, list }) => {
    const { host, logFiles, watcher } = external
    const object = list(Process).find(({ metadata }) => metadata.name === web.name)
    for (const path of logFiles.paths())
      if (logFiles.releasedBytes(path) > recordedStart(external, path))
        return `${path}: its beginning was released and not recorded`
    if (!object) return logFiles.paths().length === 0 ? undefined : `logs are left: ${logFiles.paths().join(', ')}`
    const [program] = host.processes()
    if (!program) return object.metadata.deletionTimestamp ? undefined : 'nothing runs'
    const { logFile = '' } = host.launchOf(program.pid) ?? {}
    if (logFiles.releasedBytes(logFile) === 0) return `${logFile} is not bounded`
    return Number.isFinite(watcher.changedAtTicks) && program.startTicks < watcher.changedAtTicks
      ? 'it was not started again after its file changed'
      : undefined
  },
})

const exploreWith = (mistake?: Mistake, options: object = {}) => {
  const scenario = scenarioOf(mistake)
  return explore({ controllers: scenario.controllers as never, scenario: scenario as never, ...options })
}

const nothing = () => Promise.resolve()

const mistakes: readonly (readonly [name: string, mistake: Mistake])[] = [
  [
    'changes of files are not noticed',
    {
      watcher: () => ({ changes: { watch: () => () => undefined }, findNewest: () => Promise.resolve(undefined) }),
    },
  ],
  [
    'the new beginning of a log is not recorded',
    {
      files: (files) => ({
        replaceText: (path: string, text: string) =>
          path.endsWith('.index') ? Promise.resolve() : files.replaceText(path, text),
      }),
    },
  ],
  ['the beginning of a log is not released', { logFiles: () => ({ releaseBytes: () => Promise.resolve(true) }) }],
  ['logs outlive their object', { logFiles: () => ({ removeLogs: nothing }) }],
]

describe('W42: the Explorer on files', () => {
  test('finds nothing in any single fault', async () => {
    const explored = await exploreWith()
    expect(explored.failures, formatReport(explored)).toEqual([])
    expect(explored.left).toBe(0)
    expect(explored.schedules).toBeGreaterThan(200)
  }, 900_000)

  test.each(mistakes)(
    'finds a planted mistake: %s',
    async (_, mistake) => {
      const explored = await exploreWith(mistake, { until: () => true, stories: 0 })
      expect(explored.failures.length).toBeGreaterThan(0)
    },
    300_000,
  )
})
