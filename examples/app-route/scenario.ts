/**
 * What people do to Apps and Routes, for the Explorer: processes and routes are in memory, everything else is the real code.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { UserStep } from 'evenkeel/testing'
import { appController } from './apps.ts'
import { App, Route } from './kinds.ts'
import type { Processes, RouteEntry, Router, RunningProcess } from './kinds.ts'
import { routeController } from './routes.ts'

class ProcessesInMemory {
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

class RouterInMemory {
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

const at = (name: string): { name: string, namespace: string } => ({ name, namespace: 'default' })

const steps: readonly UserStep[] = [
  { name: 'creates Route shop to App web', run: (user) => user.create(Route, { metadata: at('shop'), spec: { hostnames: ['shop.local'], targetRefs: [{ name: 'web' }] } }) },
  { name: 'creates App web', run: (user) => user.create(App, { metadata: at('web'), spec: { command: 'serve', port: 5000 } }) },
  { name: 'stops it', run: async (user) => user.patch(await user.get(App, at('web')), { spec: { running: false } }) },
  { name: 'starts it', run: async (user) => user.patch(await user.get(App, at('web')), { spec: { running: true } }) },
  { name: 'deletes Route shop', run: async (user) => user.delete(await user.get(Route, at('shop'))) },
  { name: 'deletes App web', run: async (user) => user.delete(await user.get(App, at('web'))) },
]

export interface Outside {
  readonly processes: Processes
  readonly router: Router
}

export const controllers = ({ outside: { processes, router } }: { outside: Outside }): ControllerDeclaration[] => [appController(processes) as unknown as ControllerDeclaration, routeController(router) as unknown as ControllerDeclaration]

export const scenario = {
  name: 'app-route',
  steps,
  outside: () => ({ processes: new ProcessesInMemory() as unknown as Processes, router: new RouterInMemory() as unknown as Router }),
}
