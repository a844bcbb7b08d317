/**
 * Programs with children and a status: the hello world of the README, and two levels of which each has a controller.
 *
 * Each is correct, and has a twin with one mistake.
 */
import { defineKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { UserStep } from '../scenario.ts'
import { ConfigMap } from './children.fixture.ts'
import type { Subject } from './nature.fixture.ts'

const text = { type: 'string' } as const
const spec = { type: 'object', properties: { who: text } } as const
const status = { type: 'object', properties: { text } } as const

const Greeting = defineKind({ group: 'levels.dev', version: 'v1', kind: 'Greeting', spec, status })
const Request = defineKind({ group: 'levels.dev', version: 'v1', kind: 'Request', spec, status })

const place = { name: 'a', namespace: 'default' }
const create: UserStep = {
  name: 'creates Greeting a',
  run: (user) => user.create(Greeting, { metadata: place, spec: { who: 'you' } }),
}
const steps: readonly UserStep[] = [
  create,
  { name: 'deletes Greeting a', run: async (user) => user.delete(await user.get(Greeting, place)) },
]

function ownedBy({ apiVersion, kind, metadata: { name = '', uid = '', namespace = '' } }: KubeObject): {
  readonly metadata: KubeObject['metadata'] & { readonly name: string; readonly namespace: string }
} {
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  return { metadata: { name, namespace, ownerReferences: [owner] } }
}

/** A Greeting gets a ConfigMap that says hello. The twin writes its status first. */
export function hello({ isBroken }: { isBroken: boolean }): Subject {
  const controller: ControllerDeclaration<typeof Greeting> = {
    for: Greeting,
    owns: [ConfigMap],
    async reconcile(greeting, { client, status: report }) {
      const words = `Hello, ${greeting.spec.who ?? 'world'}!`
      if (isBroken)
        await client.patchStatus(greeting, { text: words, observedGeneration: greeting.metadata.generation })
      await client.apply(ConfigMap, { ...ownedBy(greeting), data: { text: words } }, { force: true })
      report.set({ text: words })
    },
  }
  return { controllers: () => [controller as ControllerDeclaration], scenario: { name: 'hello', steps: [create] } }
}

/** A Greeting makes a Request, and the controller of Requests makes a ConfigMap. The twin does not maintain its Request. */
export function levels({ isBroken }: { isBroken: boolean }): Subject {
  const greetings: ControllerDeclaration<typeof Greeting> = {
    for: Greeting,
    owns: [Request],
    async reconcile(greeting, { client, status: report }) {
      const { who = 'world' } = greeting.spec
      const isDone = isBroken && greeting.status?.text !== undefined
      if (!isDone) await client.apply(Request, { ...ownedBy(greeting), spec: { who } }, { force: true })
      const request = await client.find(Request, place)
      report.set({ text: request?.status?.text ?? 'waits' })
    },
  }
  const requests: ControllerDeclaration<typeof Request> = {
    for: Request,
    owns: [ConfigMap],
    async reconcile(request, { client, status: report }) {
      const words = `Hello, ${request.spec.who ?? 'world'}!`
      await client.apply(ConfigMap, { ...ownedBy(request), data: { text: words } }, { force: true })
      report.set({ text: words })
    },
  }
  return {
    controllers: () => [greetings as ControllerDeclaration, requests as ControllerDeclaration],
    scenario: { name: 'levels', steps },
  }
}
