/**
 * The end of a CustomResourceDefinition: instances go first, so a finalizer keeps it until they are gone.
 */
import { setCondition } from '#api'
import type { Condition, JsonValue } from '#api'
import type { ObjectDraft } from '../../../resources/resource.ts'
import { ensureDraft } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { objectsIn, textIn, textsIn } from '../reading.ts'

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
  status['conditions'] = setCondition(objectsIn(status, 'conditions') as unknown as Condition[], condition, {
    now,
  }) as unknown as JsonValue
}
