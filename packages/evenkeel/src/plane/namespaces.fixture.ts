/**
 * A server, the namespace controller on it, and a client that fills and deletes namespaces.
 */
import { declareKind, findCondition, type Condition, type KubeObject } from '#api'
import { namespaceController, namespaceKind, type NamespaceControllerOptions } from './namespace-controller.ts'
import { World } from './world.fixture.ts'

interface Spoken extends KubeObject {
  readonly spec?: object
}

export const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
export const Pod = declareKind<Spoken>({ group: '', version: 'v1', kind: 'Pod' })

export interface NamespaceWorld extends AsyncDisposable {
  readonly world: World
  create(name: string): Promise<void>
  remove(name: string): Promise<void>
  isGone(name: string): Promise<boolean>
  condition(name: string, type: string): Promise<Condition | undefined>
}

/** All of it runs when this resolves. */
export async function namespaceWorld(options: NamespaceControllerOptions = {}): Promise<NamespaceWorld> {
  const world = await World.start()
  const running = world.run(world.manager({ controllers: [namespaceController(options) as never] }))
  const { client } = world
  const find = (name: string): ReturnType<typeof client.find<typeof namespaceKind>> =>
    client.find(namespaceKind, { name })
  return {
    world,
    async create(name) {
      await client.create(namespaceKind, { metadata: { name } })
    },
    async remove(name) {
      await client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    },
    isGone: async (name) => (await find(name)) === undefined,
    condition: async (name, type) => findCondition((await find(name))?.status?.conditions, type),
    async [Symbol.asyncDispose]() {
      await running.stop()
      await world.server.stop()
    },
  }
}
