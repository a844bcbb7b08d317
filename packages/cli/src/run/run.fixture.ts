/**
 * A server with workloads on a simulated machine, in a folder where commands find it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runControllers, type Ready } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel/controller'
import { SystemClock } from 'evenkeel/unstable/base'
import { SimulatedFiles, SimulatedHost, SimulatedNetwork, SimulatedRuntime, workloads } from '@evenkeel/workloads'
import { typed, type Said } from '../fixtures/cli.fixture.ts'

export interface WorkloadsFolder {
  readonly folder: string
  readonly host: SimulatedHost
  type(words: readonly string[], options?: object): Promise<Said>
  /** Applies Processes as `evenkeel run` does, or objects of another kind. */
  apply(specs: Readonly<Record<string, object>>, kind?: string): Promise<void>
  stop(): Promise<void>
}

export async function startWorkloads(): Promise<WorkloadsFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-run-'))
  const clock = new SystemClock()
  const host = new SimulatedHost({ clock })
  const { controllers, customResources } = workloads({
    folder: '/data',
    cwd: '/app',
    env: { PATH: '/bin' },
    host,
    containerRuntime: new SimulatedRuntime({ clock, images: ['app:1'] }),
    files: new SimulatedFiles(),
    network: new SimulatedNetwork(),
    checks: { findHealth: () => Promise.resolve({ isOk: true, output: '' }) },
  })
  const stopping = new AbortController()
  const ready = new Promise<Ready>((resolve, reject) => {
    done = runControllers(stopping.signal, {
      controllers: controllers as readonly unknown[] as readonly ControllerDeclaration[],
      customResources,
      embedded: true,
      port: 0,
      data: join(folder, 'data'),
      memory: true,
      onReady: resolve,
    })
    done.catch(reject)
  })
  await ready
  const type = (words: readonly string[], options: object = {}): Promise<Said> =>
    typed(words, { cwd: folder, ...options })
  return {
    folder,
    host,
    type,
    async apply(specs, kind = 'Process') {
      const objects = Object.entries(specs).map(([name, spec]) =>
        JSON.stringify({ apiVersion: 'workloads.evenkeel.dev/v1', kind, metadata: { name }, spec }),
      )
      const { code, err } = await type(['apply', '-f', '-'], { stdin: objects.join('\n---\n') })
      if (code !== 0) throw new Error(err)
    },
    async stop() {
      stopping.abort(new Error('the test is over'))
      await done
      await rm(folder, { recursive: true, force: true })
    },
  }
}

let done: Promise<void> = Promise.resolve()
