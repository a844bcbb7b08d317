/**
 * Apps and Routes as a module for `evenkeel up`: processes are real, and so is the router.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { channelSource } from 'evenkeel/controller'
import type { Manager } from 'evenkeel/manager'
import { appController } from './apps.ts'
import { App, Route } from './kinds.ts'
import { Exits, RealProcesses } from './real-processes.ts'
import { RealRouter } from './real-router.ts'
import { routeController } from './routes.ts'

const processes = new RealProcesses()
const router = new RealRouter()
const exits = new Exits()

const apps = appController(processes)

export const kinds = [App, Route]
export const controllers = [
  { ...apps, sources: [channelSource({ name: 'processes', events: ({ signal }) => exits.events(signal) })] },
  routeController(router),
] as unknown as readonly ControllerDeclaration[]

export async function serve({ manager, signal }: { manager: Manager, signal: AbortSignal }): Promise<{ name: string, url: string }[]> {
  processes.onExit((uid) => {
    const app = manager.cache.list(App).find(({ metadata }) => metadata.uid === uid)
    if (app) exits.push({ name: app.metadata.name, namespace: app.metadata.namespace ?? 'default', note: 'its process ended' })
  })
  const url = await router.listen(Number(process.env['ROUTER_PORT'] ?? 0))
  signal.addEventListener('abort', () => {
    router.close()
    void processes.stopAll()
  }, { once: true })
  return [{ name: 'Router', url }]
}
