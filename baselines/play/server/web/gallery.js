// The gallery: games between agents, to look through.

import { add, ask, at, entitle, main, shown } from "./page.js";

export async function showGallery(here) {
  const games = await ask("gallery");
  if (here !== shown.visit) return;
  entitle("Gallery - Azumaya", "games between agents, to look through");
  main.replaceChildren();
  add(main, "h2", "Gallery");
  if (!games.length) add(main, "p", "The gallery is empty.");
  const list = add(main, "ul", "", { class: "gallery" });
  games.forEach(({ title, players, date, story, version }, n) => {
    const link = add(add(list, "li"), "a", "", { href: at(`gallery/${n}/analysis`) });
    add(link, "img", "", { src: at(`gallery/${n}.svg?${version}`), alt: "", loading: "lazy", width: 240 });
    add(link, "strong", title);
    add(link, "span", players);
    add(link, "small", `${story} ${date}`);
  });
}
