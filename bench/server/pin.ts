/**
 * Keeps processes on one core, so that the load generator does not take time from the server it measures.
 */
import { spawnSync } from 'node:child_process'
import os from 'node:os'

/** Servers on one core, the load generator on another. */
export const cores = { server: '0', generator: '1' } as const

export const everyCore: string = `0-${os.cpus().length - 1}`

/** Whether processes can be pinned on this machine. */
export function canPin(): boolean {
  return os.cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0
}

/** All threads of these processes, including later ones. */
export function pin(processIds: readonly number[], core: string): void {
  for (const id of processIds) {
    const { status, stderr } = spawnSync('taskset', ['-acp', core, String(id)], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`process ${id} cannot be pinned to core ${core}: ${stderr}`)
  }
}
