/** A real plane with Containers of Podman, in a folder of its own. Everything ends with the test. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startTestPlane } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import { workloads } from '../workloads.ts'
import { basicsOf, serverPartsOf, type ContainerBasics } from './container-plane.fixture.ts'
import type { ContainerRuntime } from './container-runtime.ts'
import { EngineRuntime } from './engine-runtime.ts'
import type { Podman } from './podman.fixture.ts'

export async function startRealContainers(
  { socketPath }: Pick<Podman, 'socketPath'>,
  containerRuntime: ContainerRuntime = new EngineRuntime({ socketPath, clock: new SystemClock() }),
): Promise<ContainerBasics & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-containers-'))
  mkdirSync(join(folder, 'app'))
  const work = workloads({ folder, cwd: join(folder, 'app'), containerRuntime })
  const plane = await startTestPlane(serverPartsOf(work))
  onTestFinished(async () => {
    await work.stop()
    await plane.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...basicsOf(plane), plane, work, folder }
}
