/**
 * Step 2: both ways. The controller reads the service and corrects every difference from the objects.
 */
import type { ControllerDeclaration } from 'evenkeel'
import { Shape } from '../kinds.ts'
import { deleteIfThere, isAsWanted, pollMs } from './step.ts'
import type { Step } from './step.ts'

export const drift: Step = {
  number: 2,
  title: 'Drift',
  does: 'Looks at the service again and again, and puts right what somebody else changed.',
  lacks: 'It takes everything in the service for its own: shapes of other people are removed.',
  controllers({ external: { shapes }, explain }) {
    const controller: ControllerDeclaration<typeof Shape> = {
      for: Shape,
      async reconcileKey({ name }, { client }) {
        const objects = (await client.list(Shape)).items
        const drawn = await shapes.listShapes()
        for (const shape of drawn) {
          if (objects.some((object) => object.metadata.name === shape.name)) continue
          explain?.(`nobody asked for ${shape.name} (${shape.id}): I remove it`)
          await deleteIfThere(shapes, shape.id)
        }
        const object = objects.find(({ metadata }) => metadata.name === name)
        if (!object || object.metadata.deletionTimestamp !== undefined) return undefined
        const mine = drawn.find((shape) => shape.name === name)
        const { type, color } = object.spec
        if (!mine) {
          explain?.(`${name} is not in the service: I draw a ${color} ${type}`)
          await shapes.createShape({ name, type, color, labels: {} })
        } else if (!isAsWanted(object, mine)) {
          explain?.(`${name} is a ${mine.color} ${mine.type} and should be a ${color} ${type}: I change it`)
          await shapes.updateShape(mine.id, { type, color })
        }
        return { afterMs: pollMs }
      },
    }
    return [controller]
  },
}
