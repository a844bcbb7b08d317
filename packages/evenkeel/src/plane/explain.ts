/**
 * What went wrong, in one line, when it is nobody's bug: a configuration, a network, a permission, a port, a folder.
 */
import { isApiError } from '#api'
import { isConfigError, isConnectionError } from '#client'
import { GraceExceededError } from '#manager'
import { IdentityError } from '#server'
import { isStoreError } from '#store'

/** The line; undefined for a mistake in a program, which is better shown with its stack. */
export function explainError(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (
    isConfigError(error) ||
    isConnectionError(error) ||
    isStoreError(error) ||
    error instanceof IdentityError ||
    error instanceof GraceExceededError
  )
    return oneLine(error.message)
  if (isApiError(error))
    return oneLine(
      error.reason === 'Unauthorized'
        ? `the server does not know us (${error.message}): check the user of the kubeconfig, its token or certificate may have expired`
        : error.message,
    )
  const { code, port, message } = error as NodeJS.ErrnoException & { readonly port?: number }
  if (code === 'EADDRINUSE') return `port ${port ?? ''} is taken: stop what uses it, or choose another`
  if (code === 'EACCES' || code === 'EPERM' || code === 'ENOSPC' || code === 'EROFS') return oneLine(message)
  return undefined
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
