/**
 * Step 6: a finalizer. It is added before the first shape is drawn, so that no deletion is missed while the controller is down.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import type { DrawnShape, ShapeObject } from '../kinds.ts'
import { aShape, deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

const instance = 'demo'

export const finalizer: Step = {
  number: 6,
  title: 'Finalizer',
  does: 'The controller adds a finalizer before it draws, and removes it when the service shows that the shape is gone. The object stays until then, so no deletion is missed. It keeps nothing in memory, so a restart changes nothing.',
  flaw: 'When the labels of foo are removed, it draws foo a second time.',
  because:
    'The labels are the only record of which shape belongs to which object. A finalizer that is removed by force has the same effect: no record of the shape is left.',
  readsLabels: true,
  controllers({ external: { shapes }, explain }) {
    const find = async ({ metadata: { uid } }: ShapeObject): Promise<readonly DrawnShape[]> =>
      (await shapes.listShapes()).filter(({ labels }) => labels['instance'] === instance && labels['uid'] === uid)
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcile(object, { status }) {
        const [mine] = await find(object)
        const {
          metadata: { name, uid },
          spec: { type, color },
        } = object
        if (!mine) {
          explain?.(`no shape has the uid of ${name}: I draw ${aShape(object.spec)}`)
          const { id } = await shapes.createShape({ name, type, color, labels: { instance, uid } })
          status.set({ id })
        } else {
          if (!isAsWanted(object, mine)) {
            explain?.(`${name} is ${aShape(mine)} and should be ${aShape(object.spec)}: I change it`)
            await shapes.updateShape(mine.id, { type, color })
          }
          status.set({ id: mine.id })
        }
        status.condition('Ready', true)
        return { afterMs: pollMs }
      },
      async cleanup(object) {
        const left = await find(object)
        for (const { id } of left) {
          explain?.(`${object.metadata.name} is being deleted: I remove ${id}`)
          await deleteIfThere(shapes, id)
        }
        // Gone only when the service shows that it is gone.
        return left.length === 0 ? undefined : { afterMs: 100 }
      },
    }
    return [controller]
  },
}
