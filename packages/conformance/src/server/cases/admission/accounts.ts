/**
 * The account that pods of a case run with. A cluster creates it with the namespace; a server alone does not.
 */
import type { Answer } from '../../answer.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place } from '../../target.ts'

/** Creates the service account `default` unless it exists. */
export async function withAccount(place: Place, rest: Fields = {}): Promise<void> {
  const answer = await place.post('serviceaccounts', sample('serviceaccounts', 'default', rest))
  if (answer.status !== 201 && answer.status !== 409) throw new Error(`cannot create the account: ${answer}`)
}

/** Posts a pod with one container and these fields. */
export function postPod(place: Place, name: string, rest: Fields = {}): Promise<Answer> {
  return place.post('pods', sample('pods', name, rest))
}

/** The same as a dry run. */
export function tryPod(place: Place, rest: Fields): Promise<Answer> {
  return place.post('pods', sample('pods', 'probe', rest), { query: { dryRun: 'All' } })
}
