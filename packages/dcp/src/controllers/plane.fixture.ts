/**
 * The controllers of dcp on a server of an application, with a simulated machine in simulated time.
 */
import {
  SimulatedFiles,
  SimulatedHost,
  SimulatedLogFiles,
  SimulatedNetwork,
  SimulatedRuntime,
  type ProbeCheck,
  type ProbeOutcome,
} from '@evenkeel/workloads'
import type { Kind, KubeObject, ObjectOf, Stored } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { startTestPlane, type TestPlane } from 'evenkeel/testing'
import { SeededRandom, SimulatedClock, type Clock } from 'evenkeel/unstable/base'
import { onTestFinished } from 'vitest'
import { allKinds } from '../kinds/all.ts'
import { dcpControllers, type DcpControllers } from './controllers.ts'

/** The clock of a plane, for parts that are made before it. */
class RelayClock implements Clock {
  target: Clock = new SimulatedClock()
  now = (): number => this.target.now()
  monotonic = (): number => this.target.monotonic()
  after = (delayMs: number, callback: () => void) => this.target.after(delayMs, callback)
  soon = (callback: () => void): void => {
    this.target.soon(callback)
  }
}

interface SimulatedApplication {
  readonly plane: TestPlane
  readonly client: Client
  readonly host: SimulatedHost
  readonly network: SimulatedNetwork
  readonly runtime: SimulatedRuntime
  readonly files: SimulatedFiles
  readonly logFiles: SimulatedLogFiles
  readonly parts: DcpControllers
  readonly probes: { answer: (check: ProbeCheck) => ProbeOutcome; readonly checks: ProbeCheck[] }
  create(kind: Kind, name: string, content: object): Promise<KubeObject>
  /** Waits until an object is so. */
  until<K extends Kind>(
    kind: K,
    name: string,
    isSo: (object: Stored<ObjectOf<K>>) => boolean,
  ): Promise<Stored<ObjectOf<K>>>
  untilGone(kind: Kind, name: string): Promise<void>
  /** The programs that run. */
  programs(): readonly string[]
  /** What happened to an object, by its kind and uid. */
  systemLog(object: KubeObject): string
}

const patienceMs = 60_000

export async function startApplication(): Promise<SimulatedApplication> {
  const clock = new RelayClock()
  const host = new SimulatedHost({ clock })
  const [files, logFiles, network] = [new SimulatedFiles(), new SimulatedLogFiles({ clock }), new SimulatedNetwork()]
  const runtime = new SimulatedRuntime({ clock, images: ['app:1'] })
  const probes: SimulatedApplication['probes'] = { answer: () => ({ isOk: true, output: 'fine' }), checks: [] }
  const parts = dcpControllers({
    folder: '/runs',
    sessionFolder: '/session',
    cwd: '/app',
    env: { PATH: '/bin', DCP_SESSION_FOLDER: '/session' },
    checks: {
      findHealth: (check) => {
        probes.checks.push(check)
        return Promise.resolve(probes.answer(check))
      },
    },
    ...{ host, files, logFiles, network, clock, containerRuntime: runtime },
    random: new SeededRandom('dcp'),
  })
  const plane = await startTestPlane({
    kinds: allKinds,
    controllers: parts.controllers as never,
    simulated: true,
    // The server of an application has none of them.
    builtin: false,
  })
  clock.target = plane.clock
  onTestFinished(() => plane.stop())
  const { client } = plane
  return {
    ...{ plane, client, host, network, runtime, files, logFiles, parts, probes },
    create: (kind, name, content) =>
      client.create({ apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, ...content } as KubeObject),
    async until(kind, name, isSo) {
      let last: KubeObject | undefined
      try {
        await plane.until(async () => isSo((last = await client.get(kind, { name })) as never), {
          timeoutMs: patienceMs,
        })
      } catch (error) {
        throw new Error(`${kind.kind} ${name} did not get so: ${JSON.stringify(last, undefined, 1)}`, { cause: error })
      }
      return last as never
    },
    untilGone: (kind, name) =>
      plane.until(async () => (await client.find(kind, { name })) === undefined, { timeoutMs: patienceMs }),
    programs: () =>
      host
        .processes()
        .map(({ command }) => command)
        .sort(),
    systemLog: ({ kind, metadata }) =>
      files.contents[`/session/resource-${kind.toLowerCase()}-${metadata.uid}.log`] ?? '',
  }
}

export const stateIs =
  (state: string) =>
  (object: { readonly status?: { readonly state?: string | null } | null | undefined }): boolean =>
    object.status?.state === state
