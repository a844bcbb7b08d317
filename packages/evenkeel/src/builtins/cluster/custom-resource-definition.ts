/**
 * CustomResourceDefinitions as objects: names that follow from other names, what is stored in which version, and all
 * that `validateDefinition` says. Serving what a definition defines is the work of `server/definitions`.
 */
import {
  isSet,
  loadedRuleLanguage,
  loadPatternEngine,
  loadValidationRules,
  matchesPattern,
  objectIn,
  objectsIn,
  patternError,
  setCondition,
  textIn,
  textsIn,
  validateCrd,
  validateCrdStatus,
  type Condition,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
  type ValidateCrdOptions,
} from '#api'
import { validateClientConfig } from '../admission/webhooks.ts'
import { draftIn, draftsIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'

export const customResourceDefinitionStrategy: StrategyHooks = {
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
  prepareForCreate(object) {
    // Whatever a client says about the status of something that is not there yet, it is not so.
    object['status'] = {}
    noteStored(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  prepareForUpdate(object) {
    noteStored(objectIn(object, 'spec'), ensureDraft(object, 'status'))
  },
  async loadValidators(object) {
    await loadPatternEngine()
    await loadValidationRules(object)
  },
  // What a schema may cost, and more, depends on whether it was so before.
  ratcheting: true,
  validate: (object) => validateCrd(asJson(object), checks()),
  validateUpdate: (object, old) => validateCrd(asJson(object), { ...checks(), old: asJson(old) }),
  validateStatusUpdate: (object) => validateCrdStatus(asJson(object)),
}

/** What judging a definition takes from others: patterns and expressions, which `ready` has loaded. */
function checks(): ValidateCrdOptions {
  return {
    checkClientConfig: validateClientConfig,
    checkPattern: patternError,
    matches: matchesPattern,
    expressions: loadedRuleLanguage(),
  }
}

/** Adds the version that objects are stored in from now on to those they may be found in. */
function noteStored(spec: JsonObject, status: JsonObjectDraft): void {
  const storage = objectsIn(spec, 'versions').find((version) => isSet(version, 'storage'))
  const stored = textsIn(status, 'storedVersions')
  if (storage === undefined || stored.includes(textIn(storage, 'name'))) return
  status['storedVersions'] = [...stored, textIn(storage, 'name')]
}

function asJson(object: UnstructuredObject): JsonObject {
  return object
}

/*
 * The end of a CustomResourceDefinition: instances go first, so a finalizer keeps it until they are gone.
 */

/** Keeps a definition until its instances are gone. */
export const crdCleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const definitionDeletionStrategy: StrategyHooks = {
  definesResources: true,
  deletion: {
    blocksDeletion: ({ metadata }) => metadata.deletionTimestamp === undefined,
    markDeleting: markTerminating,
  },
}

function markTerminating(object: ObjectDraft): void {
  const { metadata } = object
  const finalizers = textsIn(metadata, 'finalizers')
  if (!finalizers.includes(crdCleanupFinalizer)) metadata['finalizers'] = [...finalizers, crdCleanupFinalizer]
  const status = ensureDraft(object, 'status')
  const condition = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  } as const
  const now = textIn(metadata, 'deletionTimestamp')
  status['conditions'] = setCondition(objectsIn(status, 'conditions') as readonly Condition[], condition, {
    now,
  })
}
