/**
 * Processes and routes in memory, for the Explorer: the controllers are the real ones.
 */
import type { Processes, RouteEntry, Router, RunningProcess } from './kinds.ts'

export class ProcessesInMemory implements Processes {
  readonly running = new Map<string, RunningProcess>()

  ensureRunning(uid: string, command: string, config: Readonly<Record<string, string>>): RunningProcess {
    const process = { pid: 1, command, config }
    this.running.set(uid, process)
    return process
  }

  ensureStopped(uid: string): void {
    this.running.delete(uid)
  }

  getProcess(uid: string): RunningProcess | undefined {
    return this.running.get(uid)
  }
}

export class RouterInMemory implements Router {
  readonly routes = new Map<string, readonly RouteEntry[]>()

  ensureRoutes(uid: string, routes: readonly RouteEntry[]): void {
    this.routes.set(uid, routes)
  }

  removeRoutes(uid: string): void {
    this.routes.delete(uid)
  }

  listRoutes(): Readonly<Record<string, readonly RouteEntry[]>> {
    return Object.fromEntries(this.routes)
  }
}
