/**
 * The controller of Apps: children in the cluster, a process on this machine, and three actions.
 */
import { action } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import { ConfigMap, Service } from 'evenkeel/kinds/core/v1'
import { App } from './kinds.ts'
import type { Processes } from './kinds.ts'

export function appController(processes: Processes): ControllerDeclaration<typeof App, ManagedContext> {
  const start = action('start', {
    form: 'state',
    about: 'Runs the command.',
    patch: { spec: { running: true } },
    enabledWhen: '!object.spec.running',
  })
  const stop = action('stop', {
    form: 'state',
    about: 'Ends the process; the App stays.',
    patch: { spec: { running: false } },
    enabledWhen: 'object.spec.running',
    confirm: 'This ends the process',
  })
  const refresh = action('refresh', {
    form: 'token',
    about: 'Ends the process and starts it with the newest configuration.',
  })
  return {
    for: App,
    owns: [ConfigMap, Service],
    verbs: [start, stop, refresh],
    async reconcile(app, context) {
      const { children, status } = context
      const {
        metadata: { name, uid },
        spec: { command, port, running = true, config = {} },
      } = app
      await children.apply(ConfigMap, { data: { ...config, PORT: String(port) } })
      await children.apply(Service, { spec: { selector: { app: name }, ports: [{ port, targetPort: port }] } })
      await refresh.handle(context, () => processes.ensureStopped(uid))
      if (!running) {
        await processes.ensureStopped(uid)
        status.set({ pid: undefined, routeContract: undefined })
        status.condition('Ready', false, { reason: 'Stopped', message: 'a user stopped it' })
        return
      }
      const { pid } = await processes.ensureRunning(uid, command, { ...config, PORT: String(port) })
      status.set({ pid, routeContract: { host: '127.0.0.1', port } })
      status.condition('Ready', true, { reason: 'Running' })
    },
    async cleanup({ metadata: { uid } }) {
      await processes.ensureStopped(uid)
      return (await processes.getProcess(uid)) ? { afterMs: 100 } : undefined
    },
  }
}
