/**
 * CustomResourceDefinitions as objects: names that follow from other names, what is stored in which version, and all
 * that `validateDefinition` says. Serving what a definition defines is the work of `server/definitions`.
 */
import { validateDefinition, validateDefinitionChange, validateDefinitionStatus } from '#api'
import type { JsonObject, JsonObjectDraft, UnstructuredObject } from '#api'
import { matchesPattern, patternMistake } from '../../../definitions/patterns.ts'
import type { WriteContext } from '../../../resources/resource.ts'
import { validateClientConfig } from '../admission/client-config.ts'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../drafts.ts'
import type { Hooks } from '../hooks.ts'
import { isSet, objectIn, objectsIn, textIn, textsIn } from '../reading.ts'

export const customResourceDefinitionRules: Hooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    const names = ensureDraft(spec, 'names')
    const kind = textIn(names, 'kind')
    if (kind !== '') {
      setDefaultText(names, 'singular', kind.toLowerCase())
      setDefaultText(names, 'listKind', `${kind}List`)
    }
    setDefault(spec, 'conversion', { strategy: 'None' })
    const webhook = draftIn(ensureDraft(spec, 'conversion'), 'webhook')
    const config = webhook && draftIn(webhook, 'clientConfig')
    const service = config && draftIn(config, 'service')
    if (service !== undefined) setDefault(service, 'port', 443)
    draftsIn(spec, 'versions')
    const status = draftIn(object, 'status')
    if (status !== undefined && textsIn(status, 'storedVersions').length === 0) noteStored(spec, status)
  },
  prepareCreate(object, context) {
    warnAboutMissing(objectIn(object, 'spec'), context)
    // Whatever a client says about the status of something that is not there yet, it is not so.
    object['status'] = {}
    noteStored(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  prepareUpdate(object, _old, context) {
    warnAboutMissing(objectIn(object, 'spec'), context)
    noteStored(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  validate: (object) => validateDefinition(asJson(object), { checkClientConfig: validateClientConfig, checkPattern: patternMistake, matches: matchesPattern }),
  validateUpdate: (object, old) => validateDefinitionChange(asJson(object), asJson(old)),
  validateStatusUpdate: (object) => validateDefinitionStatus(asJson(object)),
}

/** What a definition asks for and is not done yet is said to its author, not passed over. */
function warnAboutMissing(spec: JsonObject, { warn }: WriteContext): void {
  if (JSON.stringify(spec['versions'] ?? []).includes('"x-kubernetes-validations"')) warn('spec.versions: x-kubernetes-validations are kept, but not evaluated by this server yet')
  if (textIn(objectIn(spec, 'conversion'), 'strategy') === 'Webhook') warn('spec.conversion: webhooks are not called by this server yet; versions differ in apiVersion, pruning and defaults only')
}

/** Adds the version that objects are stored in from now on to those they may be found in. */
function noteStored(spec: JsonObject, status: JsonObjectDraft): void {
  const storage = objectsIn(spec, 'versions').find((version) => isSet(version, 'storage'))
  const stored = textsIn(status, 'storedVersions')
  if (storage === undefined || stored.includes(textIn(storage, 'name'))) return
  status['storedVersions'] = [...stored, textIn(storage, 'name')]
}

function asJson(object: UnstructuredObject): JsonObject {
  return object as unknown as JsonObject
}
