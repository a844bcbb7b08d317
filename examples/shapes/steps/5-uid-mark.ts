/**
 * Step 5: a better ownership label. It has the uid of the object; a shape with an unknown uid is reported, not removed.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import type { DrawnShape, ShapeObject } from '../kinds.ts'
import { aShape, deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

const instance = 'demo'

export const uidMark: Step = {
  number: 5,
  title: 'Forged label',
  does: 'The label is the UID of the object, which other clients do not know. A shape with an unknown UID is reported and left alone.',
  flaw: 'A deletion that it misses leaves a shape behind again.',
  because:
    'The UID of a deleted object is unknown too, so its shape looks forged and stays. The controller must not miss a deletion in the first place.',
  readsLabels: true,
  controllers({ external: { shapes }, explain }) {
    const mineOf = (drawn: readonly DrawnShape[], { metadata: { uid } }: ShapeObject): DrawnShape | undefined =>
      drawn.find(({ labels }) => labels['instance'] === instance && labels['uid'] === uid)
    const known = new Map<string, string>()
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name, namespace = 'default' }, { client }) {
        const object = await client.find(Shape, { name, namespace })
        const drawn = await shapes.listShapes()
        const uids = new Set((await client.list(Shape)).items.map(({ metadata }) => metadata.uid))
        for (const { id, labels } of drawn)
          if (labels['instance'] === instance && !uids.has(labels['uid'] ?? '') && labels['uid'] !== known.get(name))
            explain?.(`${id} has my label for an unknown object: suspicious, I leave it alone`)
        if (!object || object.metadata.deletionTimestamp !== undefined) {
          const gone = drawn.find(({ labels }) => labels['uid'] === (object?.metadata.uid ?? known.get(name)))
          if (gone) {
            explain?.(`${name} was deleted: I remove ${gone.id}, which has its uid`)
            await deleteIfThere(shapes, gone.id)
          }
          return undefined
        }
        known.set(name, object.metadata.uid)
        const mine = mineOf(drawn, object)
        const { type, color } = object.spec
        if (!mine) {
          explain?.(`no shape has the uid of ${name}: I draw ${aShape(object.spec)}`)
          await shapes.createShape({ name, type, color, labels: { instance, uid: object.metadata.uid } })
        } else if (!isAsWanted(object, mine)) {
          explain?.(`${name} is ${aShape(mine)} and should be ${aShape(object.spec)}: I change it`)
          await shapes.updateShape(mine.id, { type, color })
        }
        return { afterMs: pollMs }
      },
    }
    return [controller]
  },
}
