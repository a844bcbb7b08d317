/**
 * A program for tests: lamps with a ConfigMap each, actions in three forms, and a cleanup that some of them never end.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { action, defineKind } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import { Manager } from 'evenkeel/manager'
import type { ManagedContext, ManagerOptions } from 'evenkeel/manager'

export const Lamp = defineKind({
  group: 'test.dev',
  version: 'v1',
  kind: 'Lamp',
  shortNames: ['lp'],
  printerColumns: [{ name: 'Watts', type: 'integer', jsonPath: '.spec.watts' }],
  spec: { type: 'object', properties: { watts: { type: 'integer', minimum: 0 }, note: { type: 'string' } } },
  status: { type: 'object', properties: { external: { type: 'object', properties: { id: { type: 'string' } } } } },
  reports: ['children', 'actions'],
} as const)

const off = action('off', { form: 'state', about: 'Makes it dark.', patch: { spec: { watts: 0 } } })
const blink = action('blink', { form: 'token', about: 'Blinks once.', confirm: 'This wakes people' })
const price = action('price', { form: 'call', about: 'What it costs.', answer: () => ({ perHour: 1 }) })

const lamps: ControllerDeclaration<typeof Lamp, ManagedContext> = {
  for: Lamp,
  name: 'lamp',
  owns: [ConfigMap],
  verbs: [off, blink, price],
  async reconcile({ metadata, spec: { watts = 0 } }, context) {
    const { children, status } = context
    await children.apply(ConfigMap, { data: { watts: String(watts) } })
    await blink.handle(context, () => Promise.resolve())
    status.set({ external: { id: `socket-${metadata.name}` } })
    status.condition(
      'Ready',
      watts <= 100,
      watts <= 100
        ? { reason: 'Shines' }
        : { reason: 'TooBright', message: `${watts} watts are more than the 100 that the socket bears` },
    )
  },
  cleanup: ({ metadata: { name } }) => (name.startsWith('stuck') ? { park: 'the bulb is hot' } : undefined),
}

export const controllers = [lamps] as unknown as readonly ControllerDeclaration[]

/** Watches ConfigMaps, in a manager of the program's own. */
const looker: ControllerDeclaration<typeof ConfigMap> = { for: ConfigMap, name: 'looker', reconcile: () => undefined }

interface Serving {
  readonly manager: Manager
  readonly signal: AbortSignal
  endpointsOf(name: string): ManagerOptions['endpoints'] & object
  onStop(call: () => unknown): void
}

/** Starts a process, which must be gone when everything has stopped; its number is in the address. */
export async function serve({
  manager: { transport },
  signal,
  endpointsOf,
  onStop,
}: Serving): Promise<{ name: string; url: string }[]> {
  const looking = new Manager({
    name: 'looker',
    transport,
    controllers: [looker],
    leaderElection: false,
    endpoints: endpointsOf('looker'),
  }).run(signal)
  onStop(() => looking)
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  const gone = once(child, 'exit')
  onStop(async () => {
    child.kill()
    await gone
  })
  await once(child, 'spawn')
  return [{ name: 'Shop', url: `http://127.0.0.1/process/${child.pid ?? 0}` }]
}
