import { createApi } from './api.ts';
import { createBudget } from './budget.ts';
import { createBudgetMeter } from './budget-meter.ts';
import { createChannelFinder } from './channel-finder.ts';
import { createChannelView } from './channel-view.ts';
import { find, isPlainClick } from './dom.ts';
import { bundledImages, createGallery, type ExampleChannel } from './gallery.ts';
import { createHero } from './hero.ts';
import { type ChannelRecord, firstVariant, type ImageChoice, usualWidth } from './image-choice.ts';
import type { Instance } from './instance.ts';
import { type PageAddress, USUAL_CHOICE } from './page-state.ts';
import { showView } from './views.ts';

export interface Playground {
  /** Shows the state of the page's address, after Back, Forward or a load. */
  readonly restore: () => void;
  /** Shows channels of the configured instance. */
  readonly showExamples: (channels: readonly ExampleChannel[]) => void;
}

/** The parts of the page, and what each does when another changes. */
export function createPlayground(address: PageAddress, instance: Instance): Playground {
  const budget = createBudget(() => performance.now());
  const meter = createBudgetMeter(find('#budget', HTMLElement), budget);
  const api = createApi({ budget, onBudgetChange: meter.update, routeOf: instance.routeOf });
  const deps = { api, budget, instance: instance.origin };
  let channels: readonly ExampleChannel[] = [];

  const hero = createHero(find('#hero', HTMLFormElement), deps);
  const gallery = createGallery(find('#gallery-list', HTMLElement), {
    channels: examples,
    hrefOf: (channel) => address.hrefOf({ ...USUAL_CHOICE, channel, instance: instance.originInAddress() }),
    onChoose: open,
  });
  const view = createChannelView(find('#channel', HTMLElement), {
    ...deps,
    onChoice({ variant, format, width, height, quality, fit, background }, isTyped) {
      const written = width === usualWidth(variant) ? undefined : width;
      address.navigate({ variant, format, width: written, height, quality, fit, background }, { replace: isTyped });
    },
  });
  const finder = createChannelFinder({
    ...deps,
    onSubmit: open,
    onLookup(text) {
      const example = examples().find(({ handle, channelId }) => handle === text || channelId === text);
      view.showLoading(text, example === undefined ? undefined : bundledImages(example.channelId));
      showView('loading');
    },
    onFound(record, signal) {
      address.navigate({ channel: record.customUrl ?? record.channelId }, { replace: true });
      showView('channel');
      view.show(record, choiceFor(record), signal);
    },
    onNothing() {
      showView('home');
    },
  });

  instance.onChange(() => {
    budget.forget();
    address.navigate({ instance: instance.originInAddress() });
    updateExamples();
    if (address.state().channel === '') finder.end();
    else lookUp();
  });
  find('#home', HTMLAnchorElement).addEventListener('click', (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    address.navigate({ channel: '', ...USUAL_CHOICE });
    restore();
    find('.intro', HTMLElement).scrollIntoView({ block: 'nearest' });
  });

  /** Channels of the instance. Those of another instance than the configured one are unknown. */
  function examples() {
    return instance.originInAddress() === '' ? channels : [];
  }

  function updateExamples() {
    gallery.update();
    hero.start(examples().find(({ hasBanner }) => hasBanner));
  }

  /** @param text typed, pasted or chosen */
  function open(text: string) {
    const channel = text.trim();
    if (channel === '') return finder.focus();
    finder.setText(channel);
    address.navigate(channel === address.state().channel ? {} : { channel, ...USUAL_CHOICE });
    lookUp();
  }

  /** Shows the channel that the state names. */
  function lookUp() {
    view.clear();
    if (instance.origin() !== '') return finder.find(address.state().channel);
    showView('home');
    finder.say('Enter the address of an instance in the field at the top.');
    instance.focus();
  }

  /** The choice of the state, with usual values for what it leaves out. */
  function choiceFor(record: ChannelRecord): ImageChoice {
    const { variant: named, format, width, height, quality, fit, background } = address.state();
    const variant = named !== undefined && record.bannerUrls[named] !== null ? named : firstVariant(record);
    return { variant, format, width: width ?? usualWidth(variant), height, quality, fit, background };
  }

  function restore() {
    const former = address.reread();
    const state = address.state();
    if (state.instance !== former.instance) {
      budget.forget();
      instance.show(state.instance);
      updateExamples();
    }
    finder.setText(state.channel);
    if (state.channel === '') {
      view.clear();
      finder.end();
      return showView('home');
    }
    const record = view.shown();
    const isSame = state.channel === former.channel && state.instance === former.instance;
    if (!isSame || record === undefined) return lookUp();
    view.choose(choiceFor(record));
  }

  return {
    restore,

    showExamples(found) {
      channels = found;
      updateExamples();
    },
  };
}
