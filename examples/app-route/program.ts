/**
 * Apps and Routes with real processes and a real router, as one program.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { channelSource } from 'evenkeel/controller'
import type { Manager } from 'evenkeel/controller'
import { appController } from './apps.ts'
import { App } from './kinds.ts'
import { routerState } from './page/router-page.ts'
import { Exits, RealProcesses } from './real-processes.ts'
import { RealRouter } from './real-router.ts'
import { routeController } from './routes.ts'

interface Program {
  readonly controllers: readonly ControllerDeclaration[]
  /** Watches for exits of processes and starts the router, on a free port when this one is taken. */
  start(manager: Manager, port: number): Promise<{ readonly url: string; readonly isTaken: boolean }>
  /** Ends all processes. Call it after the controllers have stopped: they would start them again. */
  stop(): Promise<void>
}

export function appRoute(): Program {
  const processes = new RealProcesses()
  const router = new RealRouter()
  const exits = new Exits()
  const sources = [channelSource({ name: 'processes', events: ({ signal }) => exits.events(signal) })]
  return {
    controllers: [{ ...appController(processes), sources }, routeController(router)],
    start(manager, port) {
      processes.onExit((uid) => {
        const app = manager.cache.list(App).find(({ metadata }) => metadata.uid === uid)
        if (app)
          exits.push({
            name: app.metadata.name,
            namespace: app.metadata.namespace ?? 'default',
            note: 'its process ended',
          })
      })
      return router.listen(port, () => routerState(manager.cache))
    },
    async stop() {
      router.close()
      await processes.stopAll()
    },
  }
}
