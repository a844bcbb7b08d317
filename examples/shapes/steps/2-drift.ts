/**
 * Step 2: both ways. The controller reads the service and corrects every difference from the objects.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { aShape, deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

export const drift: Step = {
  number: 2,
  title: 'Drift',
  does: 'The controller reads the service every five seconds and corrects every difference from the objects.',
  flaw: 'It removes the shapes of other clients.',
  because:
    'It treats every shape in the service as its own, so a shape without an object is removed, also when another client drew it.',
  controllers({ external: { shapes }, explain }) {
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name }, { client }) {
        const objects = (await client.list(Shape)).items
        const drawn = await shapes.listShapes()
        for (const shape of drawn) {
          if (objects.some((object) => object.metadata.name === shape.name)) continue
          explain?.(`no object wants ${shape.name} (${shape.id}): I remove it`)
          await deleteIfThere(shapes, shape.id)
        }
        const object = objects.find(({ metadata }) => metadata.name === name)
        if (!object || object.metadata.deletionTimestamp !== undefined) return undefined
        const mine = drawn.find((shape) => shape.name === name)
        const { type, color } = object.spec
        if (!mine) {
          explain?.(`${name} is not in the service: I draw ${aShape(object.spec)}`)
          await shapes.createShape({ name, type, color, labels: {} })
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
