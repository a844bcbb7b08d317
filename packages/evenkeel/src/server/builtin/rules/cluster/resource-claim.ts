/**
 * ResourceClaims and their templates: a request for devices that says no number asks for exactly one.
 */
import type { JsonObjectDraft } from '#api'
import { draftIn, draftsIn, setDefault, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { textIn } from '../reading.ts'

export const resourceClaimStrategy: StrategyHooks = {
  default(object) {
    fillClaim(draftIn(object, 'spec'))
  },
}

export const resourceClaimTemplateStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    fillClaim(spec && draftIn(spec, 'spec'))
  },
}

function fillClaim(spec: JsonObjectDraft | undefined): void {
  const devices = spec && draftIn(spec, 'devices')
  if (devices === undefined) return
  for (const request of draftsIn(devices, 'requests')) {
    const exactly = draftIn(request, 'exactly')
    if (exactly) fillRequest(exactly)
    for (const alternative of draftsIn(request, 'firstAvailable')) fillRequest(alternative)
  }
}

function fillRequest(request: JsonObjectDraft): void {
  setDefaultText(request, 'allocationMode', 'ExactCount')
  if (textIn(request, 'allocationMode') === 'ExactCount') setDefault(request, 'count', 1)
  for (const toleration of draftsIn(request, 'tolerations')) setDefaultText(toleration, 'operator', 'Equal')
}
