/** What a view is: it fills the page, and says how to leave it. */

export interface Context {
  /** Keeps the view's state in the address, so that reloading and links lead back to it. */
  remember(parameters: Record<string, string>): void;
  /** What the page is about, for its title. */
  entitle(title: string): void;
}

export type View = (root: HTMLElement, parameters: URLSearchParams, context: Context) => Promise<() => void>;
