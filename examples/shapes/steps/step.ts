/**
 * The types that all steps of the controller share.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { DrawnShape, ShapeObject, ShapesApi } from '../kinds.ts'

export interface StepParts {
  readonly external: { readonly shapes: ShapesApi }
  /** Receives one sentence per decision of the controller. @default not called */
  readonly explain?: (text: string) => void
}

export interface Step {
  readonly number: number
  readonly title: string
  /** What it improves. */
  readonly does: string
  /** Its remaining mistake. */
  readonly lacks: string
  readonly controllers: (parts: StepParts) => readonly ControllerDeclaration[]
}

/** How often steps that read the service do so. */
export const pollMs = 5000

/** Whether a drawn shape matches the spec. */
export function isAsWanted({ spec }: ShapeObject, { type, color }: DrawnShape): boolean {
  return spec.type === type && spec.color === color
}

/** Treats 404 of a removal as success. */
export async function deleteIfThere(shapes: ShapesApi, id: string): Promise<void> {
  try {
    await shapes.deleteShape(id)
  } catch (error) {
    if ((error as { status?: number }).status !== 404) throw error
  }
}
