/**
 * Text that somebody else wrote, made harmless for a terminal: escape sequences are shown, never obeyed.
 */

// eslint-disable-next-line no-control-regex -- these are what must not reach a terminal
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Line breaks and tabs stay; everything else that a terminal would act upon becomes a dot. */
export function safeText(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(unsafe, '·')
}
