# Draws docs/images/models.svg: for each model the messages (grey) and pointers (coloured).
W,H=178,172
nodes={0:(89,38),1:(45,80),2:(133,80),3:(45,128),4:(133,128)}
parent={0:0,1:0,2:0,3:1,4:2}
models=[("gnn","complete","none"),("deepsets","self","none"),("pgn","sym","masked"),("pgn-nm","sym","all"),
("pgn-ptrs","sym","given"),("oracle-ptrs","sym","true"),("pgn-asym","dir","masked"),("pgn-mo","sym","free"),("supgnn","complete","heads"),("dgm","sym","sampled")]
cap={"complete":"every node hears every node","self":"no messages","sym":"messages along pointers,\nboth directions","dir":"messages from π(i) to i only"}
cap2={"none":"no pointers","masked":"visited nodes re-aimed","all":"every node re-aimed","given":"a trained pgn's pointers","true":"the true pointers","free":"no pointer loss","heads":"pointers only as a loss","sampled":"pointers sampled, reward loss"}
out=[]
cols=5
total_w=W*cols; total_h=(H+54)*2
out.append(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_w} {total_h}" font-family="system-ui, sans-serif" font-size="12">')
out.append('<style>.b{fill:#fff}.t{fill:#222}.s{fill:#666}.m{stroke:#b8c0cc;stroke-width:2;fill:none}.p{stroke:#2463b0;stroke-width:2.2;fill:none}.q{stroke:#2463b0;stroke-width:2;fill:none;stroke-dasharray:4 3}.n{fill:#fff;stroke:#444;stroke-width:1.5}.u{fill:#ffd8a8;stroke:#444;stroke-width:1.5}@media (prefers-color-scheme:dark){.b{fill:#16181d}.t{fill:#eee}.s{fill:#aaa}.m{stroke:#4a5260}.p,.q{stroke:#7db4ff}.n{fill:#16181d;stroke:#ccc}.u{fill:#8a5a1c;stroke:#ccc}}</style>')
out.append('<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#2463b0"/></marker></defs>')
out.append(f'<rect class="b" width="{total_w}" height="{total_h}"/>')
import math
def shrink(a,b,r=13):
    (x,y),(X,Y)=a,b; d=math.hypot(X-x,Y-y); ux,uy=(X-x)/d,(Y-y)/d
    return x+ux*r,y+uy*r,X-ux*r,Y-uy*r
for i,(name,graph,ptr) in enumerate(models):
    ox,oy=(i%cols)*W,(i//cols)*(H+54)
    out.append(f'<g transform="translate({ox} {oy})">')
    out.append(f'<text class="t" x="{W/2}" y="16" text-anchor="middle" font-weight="600">{name}</text>')
    if graph=="complete":
        for a in nodes:
            for b in nodes:
                if a<b:
                    x,y,X,Y=shrink(nodes[a],nodes[b]); out.append(f'<path class="m" d="M{x:.1f} {y:.1f}L{X:.1f} {Y:.1f}"/>')
    else:
        for a in nodes:
            if graph=="self" : continue
            if parent[a]==a: continue
            x,y,X,Y=shrink(nodes[a],nodes[parent[a]])
            if graph=="sym": out.append(f'<path class="m" stroke-width="7" d="M{x:.1f} {y:.1f}L{X:.1f} {Y:.1f}" style="stroke-width:7"/>')
    if ptr not in("none",):
        for a in nodes:
            if parent[a]==a: continue
            x,y,X,Y=shrink(nodes[a],nodes[parent[a]])
            dash = ptr in("all","sampled","free") or (ptr in("masked",) and a in(3,1))
            if ptr=="heads": dash=True
            out.append(f'<path class="{"q" if dash else "p"}" marker-end="url(#a)" d="M{x:.1f} {y:.1f}L{X:.1f} {Y:.1f}"/>')
    for a,(x,y) in nodes.items():
        out.append(f'<circle class="{"u" if a in (3,1) else "n"}" cx="{x}" cy="{y}" r="12"/><text class="t" x="{x}" y="{y+4}" text-anchor="middle">{ {3:"u",1:"v"}.get(a,"")}</text>')
    lines=cap[graph].split("\n")+[cap2[ptr]]
    for j,l in enumerate(lines):
        out.append(f'<text class="s" x="{W/2}" y="{160+j*15}" text-anchor="middle" font-size="11">{l}</text>')
    out.append('</g>')
out.append(f'</svg>')
open(__file__.replace('.py', '.svg'), 'w').write("\n".join(out)+"\n")
