/**
 * A last question at the moment at which a request is written to its socket.
 *
 * A request may have waited for a connection, and the process may have stood still meanwhile: what was true when it was
 * made may no longer be. What the question throws takes the request back; nothing of it is sent, the connection stays.
 */
import type { Dispatcher } from 'undici'

/** As the options of a dispatch carry it along. */
interface BeforeSendOptions extends Dispatcher.DispatchOptions {
  readonly beforeSend?: () => void
}

/** The same connections, for requests that carry a question. */
export function withBeforeSend(dispatcher: Dispatcher): Dispatcher {
  return dispatcher.compose((dispatch) => (options, handler) => {
    const { beforeSend } = options as BeforeSendOptions
    return dispatch(options, beforeSend ? asks(handler, beforeSend) : handler)
  })
}

function asks(handler: Dispatcher.DispatchHandler, beforeSend: () => void): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller, context) {
      beforeSend()
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (...told) => handler.onRequestUpgrade?.(...told),
    onResponseStart: (...told) => handler.onResponseStart?.(...told),
    onResponseData: (...told) => handler.onResponseData?.(...told),
    onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
    onResponseError: (...told) => handler.onResponseError?.(...told),
  }
}
