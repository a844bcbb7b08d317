/**
 * The buttons of the page: what each does, when it has no effect, and what the log reports afterwards.
 *
 * An action reports what it did, never what it was asked to do: without effect there is no sentence.
 */
import type { Client } from 'evenkeel/client'
import { ExternalRef } from 'evenkeel/verbs'
import type { Demo, Facts } from './demo.ts'
import { colors, foo, Shape } from './kinds.ts'
import type { ShapesInMemory } from './service/shapes-in-memory.ts'
import { aShape } from './steps/step.ts'

export interface ActionParts {
  readonly demo: Demo
  readonly client: Client
  readonly service: ShapesInMemory
}

/** Who acts: the user, other clients of the service and the cluster, or no one. */
export type Group = 'you' | 'others' | 'faults' | 'reset'

interface Action {
  readonly group: Group
  /** What it will do. A toggle has two labels. */
  readonly label: string | ((facts: Facts) => string)
  /** Why it has no effect now; undefined when it has one. */
  whyNot?(facts: Facts): string | undefined
  /** Returns what happened, as a sentence. */
  run(parts: ActionParts): Promise<string | undefined> | string | undefined
}

const needsFoo = ({ foo: object }: Facts): string | undefined =>
  object ? undefined : 'There is no object foo: create it first.'
const needsLivingFoo = (facts: Facts): string | undefined =>
  needsFoo(facts) ?? (facts.foo?.isDeleting ? 'foo is already being deleted.' : undefined)
const needsService = ({ isDown }: Facts): string | undefined =>
  isDown ? 'The service is down: start it first.' : undefined
const needsShape = (facts: Facts): string | undefined =>
  needsService(facts) ?? (drawn(facts, 'foo') ? undefined : 'The service has no shape foo.')
const needsLabels = ({ step }: Facts): string | undefined =>
  step.readsLabels ? undefined : `The controller of step ${step.number} reads no labels.`

function drawn({ shapes }: Facts, name: string): Facts['shapes'][number] | undefined {
  return shapes.find((shape) => shape.name === name)
}

/** The first shape called foo in the service, which the actions of other clients change. */
function shapeOf({ service: { shapes } }: ActionParts): Facts['shapes'][number] | undefined {
  return [...shapes.values()].find(({ name }) => name === 'foo')
}

const you: Readonly<Record<string, Action>> = {
  create: {
    group: 'you',
    label: 'Create foo',
    whyNot: ({ foo: object }) =>
      object && (object.isDeleting ? 'foo is still being deleted.' : 'The object foo already exists.'),
    async run({ client }) {
      const spec = { type: 'square', color: colors[0] } as const
      await client.create(Shape, { metadata: foo, spec })
      return `You created the object foo, ${aShape(spec)}.`
    },
  },
  'recolor-object': {
    group: 'you',
    label: 'Change its color',
    whyNot: needsLivingFoo,
    async run({ client }) {
      const object = await client.find(Shape, foo)
      if (!object) return undefined
      const color = colors[(colors.findIndex((each) => each === object.spec.color) + 1) % colors.length] ?? colors[0]
      await client.patch(object, { spec: { color } })
      return `You changed the color of the object foo to ${color}.`
    },
  },
  'delete-object': {
    group: 'you',
    label: 'Delete foo',
    whyNot: needsLivingFoo,
    run: async ({ client }) => ((await deleteFoo(client)) ? 'You deleted the object foo.' : undefined),
  },
}

/** Whether there was an object to delete. */
async function deleteFoo(client: Client): Promise<boolean> {
  const object = await client.find(Shape, foo)
  if (object) await client.delete(object, { ignoreNotFound: true })
  return object !== undefined
}

const others: Readonly<Record<string, Action>> = {
  'remove-by-hand': {
    group: 'others',
    label: 'Remove foo by hand',
    whyNot: needsShape,
    run(parts) {
      const shape = shapeOf(parts)
      if (!shape) return undefined
      parts.service.deleteShape(shape.id)
      return `Another client removed foo (${shape.id}) from the service.`
    },
  },
  'recolor-by-hand': {
    group: 'others',
    label: 'Paint foo grey by hand',
    whyNot: (facts) =>
      needsShape(facts) ?? (drawn(facts, 'foo')?.color === 'grey' ? 'foo is already grey.' : undefined),
    run(parts) {
      const shape = shapeOf(parts)
      if (!shape) return undefined
      parts.service.updateShape(shape.id, { color: 'grey' })
      return `Another client painted foo (${shape.id}) grey in the service.`
    },
  },
  foreign: {
    group: 'others',
    label: 'Draw bar',
    whyNot: (facts) => needsService(facts) ?? (drawn(facts, 'bar') && 'The service already has a shape bar.'),
    run({ service }) {
      service.createShape({ name: 'bar', type: 'circle', color: 'royalblue', labels: {} })
      return 'Another client drew bar in the service, for itself.'
    },
  },
  forge: {
    group: 'others',
    label: 'Draw baz with forged labels',
    whyNot: (facts) =>
      needsLabels(facts) ?? needsService(facts) ?? (drawn(facts, 'baz') && 'The service already has a shape baz.'),
    run({ service }) {
      service.createShape({ name: 'baz', type: 'triangle', color: 'crimson', labels: forgedLabels })
      return 'Another client drew baz in the service, with the labels that the controller uses.'
    },
  },
  'remove-labels': {
    group: 'others',
    label: 'Remove the labels of foo',
    whyNot: (facts) =>
      needsLabels(facts) ??
      needsShape(facts) ??
      (Object.keys(drawn(facts, 'foo')?.labels ?? {}).length === 0 ? 'foo has no labels.' : undefined),
    run(parts) {
      const shape = shapeOf(parts)
      if (!shape) return undefined
      parts.service.updateShape(shape.id, { labels: {} })
      return `Another client removed the labels of foo (${shape.id}) in the service.`
    },
  },
  'delete-ref': {
    group: 'others',
    label: 'Delete the tracking object',
    whyNot: ({ step, refs }) =>
      refs.length > 0
        ? undefined
        : step.number === 7
          ? 'There is no tracking object yet.'
          : `Step ${step.number} has no tracking object.`,
    async run({ client, demo }) {
      const { refs } = await demo.facts()
      const { apiVersion, kind } = ExternalRef
      for (const { name } of refs)
        await client.delete({ apiVersion, kind, metadata: { name } }, { ignoreNotFound: true })
      return refs.length > 0 ? 'Another user deleted the tracking object of foo.' : undefined
    },
  },
}

const forgedLabels = {
  owner: 'k8s',
  instance: 'demo',
  uid: '00000000-0000-4000-8000-000000000000',
}

const faults: Readonly<Record<string, Action>> = {
  controller: {
    group: 'faults',
    label: ({ isRunning }) => (isRunning ? 'Stop the controller' : 'Start the controller'),
    async run({ demo }) {
      if (!demo.isRunning) {
        demo.start()
        return 'The controller was started.'
      }
      await demo.stop()
      return 'The controller was stopped.'
    },
  },
  restart: {
    group: 'faults',
    label: 'Restart the controller',
    whyNot: ({ isRunning }) => (isRunning ? undefined : 'The controller is stopped: start it instead.'),
    async run({ demo }) {
      await demo.stop()
      demo.start()
      return 'The controller was restarted.'
    },
  },
  service: {
    group: 'faults',
    label: ({ isDown }) => (isDown ? 'Start the service' : 'Stop the service'),
    run({ service, demo }) {
      service.isDown = !service.isDown
      demo.tell()
      return service.isDown ? 'The service was stopped.' : 'The service was started.'
    },
  },
  'miss-deletion': {
    group: 'faults',
    label: 'Delete foo while the controller is down',
    whyNot: (facts) =>
      needsLivingFoo(facts) ?? (facts.isRunning ? undefined : 'The controller is already down: press "Delete foo".'),
    async run({ demo, client }) {
      await demo.stop()
      const isDeleted = await deleteFoo(client)
      demo.start()
      return isDeleted ? 'The object foo was deleted while the controller was down.' : 'The controller was restarted.'
    },
  },
  'force-finalizer': {
    group: 'faults',
    label: 'Delete foo and remove its finalizer by force',
    whyNot: (facts) => needsFoo(facts) ?? (facts.foo?.finalizers.length === 0 ? 'foo has no finalizer.' : undefined),
    async run({ demo, client }) {
      const wasRunning = demo.isRunning
      await demo.stop()
      const isDeleted = await deleteFoo(client)
      const left = await client.find(Shape, foo)
      for (const finalizer of left?.metadata.finalizers ?? []) if (left) await client.removeFinalizer(left, finalizer)
      if (wasRunning) demo.start()
      if (!isDeleted) return undefined
      const what = 'object foo was deleted and its finalizer was removed by force.'
      return wasRunning ? `While the controller was down, the ${what}` : `The ${what}`
    },
  },
}

const reset: Readonly<Record<string, Action>> = {
  'start-over': {
    group: 'reset',
    label: 'Start over',
    whyNot: ({ foo: object, refs, shapes, isDown, isRunning, hasHistory }) =>
      object || refs.length > 0 || shapes.length > 0 || isDown || !isRunning || hasHistory
        ? undefined
        : 'There is nothing to clear.',
    async run({ demo }) {
      await demo.reset()
      return undefined
    },
  },
}

const actions: Readonly<Record<string, Action>> = { ...you, ...others, ...faults, ...reset }

export interface Button {
  readonly name: string
  readonly group: Group
  readonly label: string
  /** Why it is disabled. */
  readonly whyNot?: string
}

/** The buttons in a state of the demo. */
export function buttonsIn(facts: Facts): readonly Button[] {
  return Object.entries(actions).map(([name, { group, label, whyNot }]) => {
    const reason = whyNot?.(facts)
    return {
      name,
      group,
      label: typeof label === 'string' ? label : label(facts),
      ...(reason !== undefined && { whyNot: reason }),
    }
  })
}

export interface Pressed {
  readonly status: 200 | 404 | 409
  readonly error?: string
}

/** Presses a button. One action runs at a time; one without effect is refused with the reason. */
export function press(name: string, parts: ActionParts): Promise<Pressed> {
  const { demo } = parts
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) return Promise.resolve({ status: 404, error: 'there is no such button' })
  return demo.inTurn(async () => {
    const reason = action.whyNot?.(await demo.facts())
    if (reason !== undefined) return { status: 409, error: reason }
    // The sentence stands before what the controller says about it.
    const place = demo.takePlace()
    const text = await action.run(parts)
    if (text !== undefined) demo.say(text, { by: action.group, place })
    return { status: 200 }
  })
}
