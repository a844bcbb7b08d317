/**
 * The refusal of an apply that other managers stand in the way of, in the words clients know.
 */
import { applyConflict } from '../../error/makers.ts'
import type { ApiError } from '../../error/api-error.ts'
import type { StatusCause } from '../../error/reasons.ts'
import type { ManagedFieldsEntry } from '../../object.ts'
import { compareText, quote } from '../../text.ts'
import { formatPath } from '../paths/element.ts'
import type { Conflicts } from '../merge/settle.ts'

/** One cause per field, managers in the order of their identities. */
export function conflictError(conflicts: Conflicts): ApiError {
  const byManager = [...conflicts]
    .sort(([a], [b]) => compareText(a, b))
    .map(([identity, set]) => ({ manager: formatManager(identity), fields: [...set.paths()].map(formatPath) }))
  const causes = byManager.flatMap(({ manager, fields }) =>
    fields.map((field): StatusCause => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field,
    })),
  )
  const [only] = causes
  if (causes.length === 1 && only)
    return applyConflict(`Apply failed with 1 conflict: ${only.message}: ${only.field}`, causes)
  const lines = byManager.flatMap(({ manager, fields }) => [
    `conflicts with ${manager}:`,
    ...fields.map((field) => `- ${field}`),
  ])
  return applyConflict(`Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`, causes)
}

function formatManager(identity: string): string {
  const { manager = '', operation, apiVersion, subresource } = JSON.parse(identity) as ManagedFieldsEntry
  const name = subresource ? `${quote(manager)} with subresource ${quote(subresource)}` : quote(manager)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
