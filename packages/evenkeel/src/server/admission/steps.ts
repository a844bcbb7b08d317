/**
 * What takes part in admission, in order: those who change a write before those who judge it, policies before webhooks.
 * Quotas come last, behind everybody who may still refuse: what they count is used up.
 */
import type { Rooms } from '../call.ts'
import type { AdmissionStep } from './admission.ts'
import type { AdmissionHook } from './hooks/admission-hook.ts'
import { hookStep } from './hooks/hook-step.ts'
import { Matching } from './matching/matching.ts'
import { mutatingPolicies } from './policies/mutating.ts'
import { validatingPolicies } from './policies/validating.ts'
import { webhookSteps } from './webhooks/steps.ts'
import type { WebhookStepOptions } from './webhooks/steps.ts'

type StepRooms = Pick<
  Rooms,
  'views' | 'registry' | 'store' | 'cluster' | 'access' | 'clock' | 'random' | 'log' | 'stopping'
>

interface StepOptions extends WebhookStepOptions {
  /** Of whoever embeds the server: asked before everybody else. */
  readonly hooks: readonly AdmissionHook[]
}

/** The steps that objects of the server itself configure. Must be made before the views start. */
export function configuredSteps(rooms: StepRooms, { hooks, ...options }: StepOptions): readonly AdmissionStep[] {
  const { registry, views, random, log } = rooms
  const matching = new Matching({ registry, namespaces: views.of('', 'namespaces') })
  const { mutating, validating } = webhookSteps(matching, rooms, options)
  return [
    ...hooks.map((hook) => hookStep(hook, { matching, random, log })),
    mutatingPolicies(rooms, matching),
    mutating,
    validatingPolicies(rooms, matching),
    validating,
  ]
}
