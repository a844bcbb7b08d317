/**
 * The mishaps: one function per button of the page.
 */
import type { Client } from 'evenkeel/client'
import { ExternalRef } from 'evenkeel/verbs'
import type { Demo } from './demo.ts'
import { Shape } from './kinds.ts'
import type { DrawnShape } from './kinds.ts'
import type { ShapesInMemory } from './service/shapes-in-memory.ts'

export interface MishapParts {
  readonly demo: Demo
  readonly client: Client
  readonly service: ShapesInMemory
}

export interface Mishap {
  readonly label: string
  /** The sentence after "You". A toggle has two sentences. */
  readonly says: string | ((state: { readonly isDown: boolean; readonly isRunning: boolean }) => string)
  run(parts: MishapParts): Promise<void> | void
}

const colors = ['purple', 'orange', 'teal', 'crimson', 'gold', 'navy']
const place = { name: 'foo', namespace: 'default' }

/** The shape of the object of the buttons, or the first one. */
function fooOf({ shapes }: ShapesInMemory): DrawnShape | undefined {
  return [...shapes.values()].find(({ name }) => name === 'foo') ?? [...shapes.values()][0]
}

async function foo(
  client: Client,
): Promise<ReturnType<typeof client.get<typeof Shape>> extends Promise<infer T> ? T | undefined : never> {
  return await client.find(Shape, place)
}

export const mishaps: Readonly<Record<string, Mishap>> = {
  create: {
    label: 'Create foo',
    says: 'created the object foo, a purple square',
    async run({ client }) {
      if (!(await foo(client)))
        await client.create(Shape, { metadata: place, spec: { type: 'square', color: 'purple' } })
    },
  },
  'recolor-object': {
    label: 'Change the color of the object',
    says: 'changed the color in the object',
    async run({ client }) {
      const object = await foo(client)
      if (object)
        await client.patch(object, {
          spec: { color: colors[(colors.indexOf(object.spec.color) + 1) % colors.length] ?? 'purple' },
        })
    },
  },
  'delete-object': {
    label: 'Delete the object',
    says: 'deleted the object foo',
    async run({ client }) {
      const object = await foo(client)
      if (object) await client.delete(object)
    },
  },
  'remove-by-hand': {
    label: 'Remove the shape manually',
    says: 'removed the shape in the service, manually',
    run({ service }) {
      const shape = fooOf(service)
      if (shape) service.deleteShape(shape.id)
    },
  },
  'recolor-by-hand': {
    label: 'Recolor the shape manually',
    says: 'painted the shape grey in the service, manually',
    run({ service }) {
      const shape = fooOf(service)
      if (shape) service.updateShape(shape.id, { color: 'grey' })
    },
  },
  foreign: {
    label: 'Another client draws bar',
    says: 'drew bar in the service, as another client',
    run({ service }) {
      service.createShape({ name: 'bar', type: 'circle', color: 'royalblue', labels: {} })
    },
  },
  forge: {
    label: 'Forge an ownership label',
    says: 'drew baz in the service, with the ownership labels of the controller',
    run({ service }) {
      const uid = '00000000-0000-4000-8000-000000000000'
      service.createShape({
        name: 'baz',
        type: 'triangle',
        color: 'crimson',
        labels: {
          owner: 'k8s',
          instance: 'demo',
          uid,
          group: 'shapes.example.com',
          kind: 'Shape',
          namespace: 'default',
          name: 'baz',
        },
      })
    },
  },
  'strip-marks': {
    label: 'Remove the ownership labels',
    says: 'removed all labels of the shape, manually',
    run({ service }) {
      const shape = fooOf(service)
      if (shape) service.updateShape(shape.id, { labels: {} })
    },
  },
  'miss-deletion': {
    label: 'Delete while the controller is down',
    says: 'stopped the controller, deleted the object, and started it again',
    async run({ demo, client }) {
      await demo.stop()
      const object = await foo(client)
      if (object) await client.delete(object)
      demo.start()
    },
  },
  'force-finalizer': {
    label: 'Remove the finalizer by force',
    says: 'stopped the controller, deleted the object, removed its finalizers by force, and started the controller again',
    async run({ demo, client }) {
      await demo.stop()
      const object = await foo(client)
      if (object) {
        await client.delete(object)
        const left = await foo(client)
        for (const finalizer of left?.metadata.finalizers ?? []) if (left) await client.removeFinalizer(left, finalizer)
      }
      demo.start()
    },
  },
  restart: {
    label: 'Restart the controller',
    says: 'restarted the controller',
    async run({ demo }) {
      await demo.stop()
      demo.start()
    },
  },
  'delete-ref': {
    label: 'Delete the tracking object',
    says: 'deleted the tracking object manually',
    async run({ client }) {
      for (const ref of (await client.list(ExternalRef)).items) await client.delete(ref, { ignoreNotFound: true })
    },
  },
  down: {
    label: 'Take the service down, or up again',
    says: ({ isDown }) => (isDown ? 'started the service again' : 'stopped the service'),
    run({ service, demo }) {
      service.isDown = !service.isDown
      demo.tell()
    },
  },
  stop: {
    label: 'Stop or start the controller',
    says: ({ isRunning }) => (isRunning ? 'stopped the controller' : 'started the controller'),
    async run({ demo }) {
      if (demo.isRunning) await demo.stop()
      else demo.start()
    },
  },
  clear: {
    label: 'Start again',
    says: 'cleared everything',
    async run({ demo, client, service }) {
      service.isDown = false
      demo.start()
      const object = await foo(client)
      if (object) await client.delete(object)
      for (const { id, labels } of [...service.shapes.values()])
        if (labels['uid'] === undefined || labels['uid'].startsWith('00000000')) service.deleteShape(id)
    },
  },
}
