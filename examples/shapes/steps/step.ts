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
  /** What it does, and what is better than in the step before. */
  readonly does: string
  /** What still goes wrong, in one sentence. */
  readonly flaw: string
  /** Why it goes wrong. */
  readonly because: string
  /** Whether it recognizes its shapes by labels in the service. @default false */
  readonly readsLabels?: boolean
  readonly controllers: (parts: StepParts) => readonly ControllerDeclaration[]
}

/** How often steps that read the service do so. */
export const pollMs = 5000

/** A shape as it is read: `an orange square`. */
export function aShape({ type, color }: { readonly type: string; readonly color: string }): string {
  return `${/^[aeiou]/.test(color) ? 'an' : 'a'} ${color} ${type}`
}

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
