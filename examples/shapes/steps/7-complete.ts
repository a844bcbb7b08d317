/**
 * Step 7: complete. `external` with a tracking object that is written before a shape is drawn. It needs neither ownership
 * labels nor lists, only a create that can be repeated and cancelled, and finds leftovers after a forced finalizer removal.
 */
import { external } from 'evenkeel'
import type { ControllerDeclaration, Driver } from 'evenkeel'
import { ExternalError } from 'evenkeel/verbs'
import { Shape } from '../kinds.ts'
import type { DrawnShape, ShapeObject, ShapesApi } from '../kinds.ts'
import { aShape, pollMs } from './step.ts'
import type { Step } from './step.ts'

type Look = Pick<DrawnShape, 'name' | 'type' | 'color'>

/** The driver: maps the operations of `external` to the service. */
function driverFor(shapes: ShapesApi, explain: ((text: string) => void) | undefined): Driver<ShapeObject, Look, Look> {
  return {
    name: 'shapes',
    capabilities: { labels: 'none', ids: 'assigned', idempotent: 'byToken', consistencyWindowMs: 500 },
    desired: ({ metadata: { name }, spec: { type, color } }) => ({ name, type, color }),
    async observe(id) {
      const shape = await shapes.getShape(id)
      return shape && observation(shape)
    },
    async create(desired, { idempotencyKey }) {
      explain?.(`${desired.name} has no shape: I draw ${aShape(desired)}`)
      const { id } = await knowing(shapes.createShape({ ...desired, labels: {} }, idempotencyKey))
      return { id }
    },
    async update(id, desired, { paths }) {
      explain?.(`${desired.name} (${id}) differs in ${paths.join(', ')}: I make it ${aShape(desired)}`)
      await shapes.updateShape(id, desired)
    },
    async cancel(key) {
      await shapes.cancelCreate(key)
    },
    async remove(id) {
      explain?.(`${id} is no longer wanted: I remove it`)
      await shapes.deleteShape(id)
    },
  }
}

/** The service answers 503 before it changes anything: a retry is safe. */
async function knowing<T>(call: Promise<T> | T): Promise<T> {
  try {
    return await call
  } catch (error) {
    if ((error as { status?: number }).status !== 503) throw error
    throw new ExternalError('the shapes service is down; nothing was done', {
      status: 429,
      retryAfterMs: 1000,
      cause: error,
    })
  }
}

function observation({ id, name, type, color }: DrawnShape): { id: string; observed: Look } {
  return { id, observed: { name, type, color } }
}

export const complete: Step = {
  number: 7,
  title: 'Tracking object',
  does: 'A tracking object (ExternalRef) is written before the shape is drawn, and removed after the shape is gone. It has the id of the shape and the key of the create call. The driver states what the service can do, and external does the rest.',
  flaw: 'No flaw is left: even a finalizer that is removed by force leaves no shape behind.',
  because:
    'The Explorer finds nothing under any single fault. If a user breaks the link between object and shape on purpose, the status of the object reports it and offers choices.',
  controllers({ external: { shapes }, explain }) {
    // The service is local: after two seconds no response will come.
    const shape = external(driverFor(shapes, explain), {
      instance: 'demo',
      track: true,
      callTimeoutMs: 2000,
      policy: { pollIntervalMs: pollMs },
    })
    const controller: ControllerDeclaration<typeof Shape> = { for: Shape, verbs: [shape] }
    return [controller]
  },
}
