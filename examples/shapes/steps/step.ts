/**
 * What every step of the controller is made from.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { DrawnShape, ShapeObject, ShapesApi } from '../kinds.ts'

export interface StepParts {
  readonly external: { readonly shapes: ShapesApi }
  /** Told in a sentence what the controller saw and why it acts. @default nobody listens */
  readonly explain?: (text: string) => void
}

export interface Step {
  readonly number: number
  readonly title: string
  /** What it does better than the one before. */
  readonly does: string
  /** What still goes wrong. */
  readonly lacks: string
  readonly controllers: (parts: StepParts) => readonly ControllerDeclaration[]
}

/** How often the service is looked at, by steps that do. */
export const pollMs = 5000

/** Whether a drawn shape looks as the object says. */
export function isAsWanted({ spec }: ShapeObject, { type, color }: DrawnShape): boolean {
  return spec.type === type && spec.color === color
}

/** A removal of something that is gone is done. */
export async function deleteIfThere(shapes: ShapesApi, id: string): Promise<void> {
  try {
    await shapes.deleteShape(id)
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error
  }
}
