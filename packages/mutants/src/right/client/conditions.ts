/** A Recipe is checked: conditions say what is wrong with it, and nothing else is written. */
import { defineController, defineKind } from 'evenkeel'
import { z } from 'zod'
import { changes, creates, deletes } from '../steps.ts'

const Recipe = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'Recipe',
  spec: z.object({ steps: z.array(z.string()), minutes: z.number().int(), isPaused: z.boolean().optional() }),
  status: z.object({ steps: z.number().int().optional(), level: z.string().optional() }),
})

function levelOf(minutes: number): string {
  if (minutes < 30) return 'Easy'
  return minutes < 90 ? 'Medium' : 'Hard'
}

export const controllers = () => [
  defineController({
    for: Recipe,
    reconcile(recipe, { status }) {
      const { steps, minutes, isPaused = false } = recipe.spec
      const isEmpty = steps.every((step) => step.trim() === '')
      status.set({ steps: steps.length, level: levelOf(minutes) })
      status.condition('Valid', !isEmpty && minutes > 0, { reason: isEmpty ? 'NoSteps' : 'Checked' })
      if (isPaused) status.condition('Ready', false, { reason: 'Paused' })
      else status.condition('Ready', !isEmpty && minutes > 0)
    },
  }),
]

export const scenario = {
  name: 'conditions',
  steps: [
    creates(Recipe, 'soup', { spec: { steps: [], minutes: 20 } }),
    changes(Recipe, 'soup', { spec: { steps: ['cut', 'cook'], minutes: 40 } }),
    changes(Recipe, 'soup', { spec: { isPaused: true } }),
    changes(Recipe, 'soup', { spec: { isPaused: false, minutes: 90 } }),
    deletes(Recipe, 'soup'),
  ],
}
