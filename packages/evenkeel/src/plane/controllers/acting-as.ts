/**
 * Whom the controllers of the plane act as, the same as on a cluster: what is listed and watched, the controller manager
 * lists and watches; what is written, each controller writes under its own account, whose ClusterRole says what it may do.
 */
import type { Server } from '#server'
import { parseResourcePath } from '#wire'
import type { Transport } from '#wire'

type User = Parameters<Server['as']>[0]

const controllerManager = 'system:kube-controller-manager'

/** The server itself: what it does for itself, nobody else need be allowed to do. */
const apiServer: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** The server, as a service account of `kube-system` or a user of the system sees it; without one, as it sees itself. */
export function transportAs({ as }: Pick<Server, 'as'>, account: string | undefined): Transport {
  if (account === undefined) return as(apiServer)
  const [reading, writing] = [as(userOf(controllerManager)), as(userOf(account))]
  return (request) => (isListing(request) ? reading : writing)(request)
}

function userOf(account: string): User {
  if (account.startsWith('system:')) return { name: account, groups: ['system:authenticated'] }
  return {
    name: `system:serviceaccount:kube-system:${account}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
  }
}

function isListing({ method, target }: Parameters<Transport>[0]): boolean {
  return method === 'GET' && parseResourcePath(target.split('?', 1)[0] ?? '')?.name === ''
}
